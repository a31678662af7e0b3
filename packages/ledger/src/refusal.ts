/**
 * How a transaction ends without effect. Thrown inside interpretation only, and caught there: no errors,
 * because a stack trace costs more than the rest of an entry.
 */
import { catalogue, type ErrorCode } from '@quorumscan/errors'
import type { PriorAcceptance } from '@quorumscan/model'
import { LfError } from './lf.ts'
import type { CellKey } from './state.ts'

/**
 * Codes of `EntryResult.rejected`. Only the ledger interface reports those of the second part; elsewhere they are
 * INVALID_ARGUMENT (see `errorCodeOf`).
 */
export type RejectionCode = CatalogueCode | LedgerOnlyCode

const LEDGER_ONLY_CODES = [
  'TEMPLATE_PRECONDITION_VIOLATED',
  'WRONGLY_TYPED_CONTRACT',
  'INVALID_DEDUPLICATION_PERIOD',
] as const

type LedgerOnlyCode = (typeof LEDGER_ONLY_CODES)[number]

type CatalogueCode = Extract<
  ErrorCode,
  | 'CONTRACT_NOT_FOUND'
  | 'CONTRACT_CONSUMED'
  | 'NAME_TAKEN'
  | 'NAME_SUFFIX_MISSING'
  | 'INVALID_NAME'
  | 'INVALID_URL'
  | 'INVALID_DESCRIPTION'
  | 'INSUFFICIENT_FUNDS'
  | 'LIMIT_EXCEEDED'
  | 'OPEN_REQUEST_LIMIT'
  | 'DUPLICATE_COMMAND'
  | 'PERMISSION_DENIED'
  | 'CHOICE_REFUSED'
  | 'INVALID_ARGUMENT'
  | 'DEVNET_ONLY'
>

/** The code of the catalogue that stands for a rejection; one of a newer ledger is CHOICE_REFUSED. */
export function errorCodeOf(code: string): ErrorCode {
  if (LEDGER_ONLY_CODES.some((known) => known === code)) return 'INVALID_ARGUMENT'
  return Object.hasOwn(catalogue, code) ? (code as ErrorCode) : 'CHOICE_REFUSED'
}

/** The ledger says no: the whole transaction has no effect. */
export class Refusal {
  readonly code: RejectionCode
  readonly message: string
  /** Of DUPLICATE_COMMAND: the acceptance that blocks. */
  readonly prior: PriorAcceptance | undefined

  constructor(code: RejectionCode, message: string, prior?: PriorAcceptance) {
    this.code = code
    this.message = message
    this.prior = prior
  }
}

/** Interpretation needs cells that were not loaded. */
export class MissingCells {
  readonly keys: readonly CellKey[]

  constructor(keys: readonly CellKey[]) {
    this.keys = keys
  }
}

export function refuse(code: RejectionCode, message: string): never {
  throw new Refusal(code, message)
}

/** @throws {Refusal} If the condition is false. */
export function demand(
  condition: boolean,
  code: RejectionCode,
  message: string,
): asserts condition {
  if (!condition) throw new Refusal(code, message)
}

/** Runs a step; gives back what ends it early. A value that does not fit its type is a refusal. */
export function attempt<T>(work: () => T): T | Refusal | MissingCells {
  try {
    return work()
  } catch (error) {
    if (error instanceof Refusal || error instanceof MissingCells) return error
    if (error instanceof LfError) return new Refusal('INVALID_ARGUMENT', error.message)
    throw error
  }
}
