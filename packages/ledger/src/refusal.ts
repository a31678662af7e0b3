/**
 * How a transaction ends without effect. Thrown inside interpretation only, and caught there: no errors,
 * because a stack trace costs more than the rest of an entry.
 */
import type { ErrorCode } from '@quorumscan/errors'
import type { CellKey } from './state.ts'

/** Codes of `EntryResult.rejected`. */
export type RejectionCode = Extract<
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
  | 'DUPLICATE_COMMAND'
  | 'PERMISSION_DENIED'
  | 'CHOICE_REFUSED'
  | 'INVALID_ARGUMENT'
  | 'DEVNET_ONLY'
>

/** The ledger says no: the whole transaction has no effect. */
export class Refusal {
  readonly code: RejectionCode
  readonly message: string

  constructor(code: RejectionCode, message: string) {
    this.code = code
    this.message = message
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
