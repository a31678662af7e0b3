/**
 * The reasons for which a transaction ends without effect. Interpretation throws and catches them. They are not of the
 * class `Error`, because a stack trace costs more than the rest of an entry.
 */
import { catalogue, type ErrorCode } from '@quorumscan/errors'
import type { PriorAcceptance } from '@quorumscan/model'
import { LfError } from './lf.ts'
import type { CellKey } from './state.ts'

/**
 * The codes of a rejected `EntryResult`. Only the ledger interface reports the ledger-only ones. Other interfaces report
 * INVALID_ARGUMENT in their place (`errorCodeOf`).
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

/** The code of the catalogue for a rejection. A code that only a newer ledger knows becomes CHOICE_REFUSED. */
export function errorCodeOf(code: string): ErrorCode {
  if (LEDGER_ONLY_CODES.some((known) => known === code)) return 'INVALID_ARGUMENT'
  return Object.hasOwn(catalogue, code) ? (code as ErrorCode) : 'CHOICE_REFUSED'
}

/** The ledger rejects the transaction, which has no effect at all. */
export class Refusal {
  readonly code: RejectionCode
  readonly message: string
  /** The earlier acceptance of the same change; set for DUPLICATE_COMMAND only. */
  readonly prior: PriorAcceptance | undefined

  constructor(code: RejectionCode, message: string, prior?: PriorAcceptance) {
    this.code = code
    this.message = message
    this.prior = prior
  }
}

/** The cells that interpretation needs and that are not loaded. */
export class MissingCells {
  readonly keys: readonly CellKey[]

  constructor(keys: readonly CellKey[]) {
    this.keys = keys
  }
}

/**
 * Rejects the transaction.
 *
 * @param message - Permanent: it is part of the hashed result (Rule 1).
 * @throws {Refusal} Always.
 */
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

/** Runs a step. Returns the reason if the step ends early. A value that does not fit its type is a refusal. */
export function attempt<T>(work: () => T): T | Refusal | MissingCells {
  try {
    return work()
  } catch (error) {
    if (error instanceof Refusal || error instanceof MissingCells) return error
    if (error instanceof LfError) return new Refusal('INVALID_ARGUMENT', error.message)
    throw error
  }
}
