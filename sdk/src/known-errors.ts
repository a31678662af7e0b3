/** Errors for callers: the code decides on the type of the details. The lists of codes are loaded with nothing else. */

import type { Insufficient, Lagging } from '@quorumscan/reader'
import { clientErrorCodes } from './client-error-codes.ts'
import { type ErrorCode, isQuorumscanError as isError, type QuorumscanError } from './errors.ts'
import { serverErrorCodes } from './generated/error-codes.ts'
import type { Disputed, NameChange, NameEntry } from './names/lookup-types.ts'
import type { SpliceInsufficient, SpliceUndecided } from './splice/splice-answers.ts'

type AnyDetails = Readonly<Record<string, unknown>>
type RuleDetails = { readonly rule: string }
/** The answers of the nodes. */
type OutcomeDetails = {
  readonly outcome:
    | Disputed
    | Insufficient
    | Lagging
    | SpliceUndecided<unknown>
    | SpliceInsufficient
}

/** The details of codes that have the same ones in each error. null: an intermediate server sent none. */
export type ErrorDetails = {
  readonly NAME_CHANGED: NameChange
  readonly NAME_EXPIRED: { readonly entry: NameEntry }
  readonly NAME_TAKEN: { readonly name: string; readonly expiresAt: string }
  readonly INVALID_NAME: RuleDetails
  readonly NAME_SUFFIX_MISSING: RuleDetails
  readonly INVALID_URL: RuleDetails
  /** `excess`: how many UTF-16 units of metadata are too many. */
  readonly INVALID_DESCRIPTION: RuleDetails & { readonly excess?: number }
  readonly INVALID_RECEIPT: { readonly reason: string }
  /** Why the validator refused the token. */
  readonly UNAUTHENTICATED: { readonly reason: 'missing' | 'malformed' | 'expired' | 'invalid' }
  readonly REGISTRATION_DIFFERS: Readonly<
    Record<'requested' | 'effective', { readonly url?: string; readonly description?: string }>
  >
  readonly CONSENSUS_DISPUTED: OutcomeDetails
  readonly CONSENSUS_LAGGING: OutcomeDetails
  readonly NOT_ENOUGH_NODES: OutcomeDetails
}

/** A `QuorumscanError` whose `code` decides on the type of `details`. */
export type KnownError = {
  [Code in ErrorCode]: Omit<QuorumscanError, 'code' | 'details'> & {
    readonly code: Code
    readonly details: (Code extends keyof ErrorDetails ? ErrorDetails[Code] : AnyDetails) | null
  }
}[ErrorCode]

/**
 * Whether the error is a `QuorumscanError`, also of another copy of the SDK in the same program. A comparison of its
 * `code` narrows `details`.
 *
 * @example if (isQuorumscanError(error) && error.code === 'NAME_TAKEN') show(error.details?.expiresAt)
 */
export function isQuorumscanError(error: unknown): error is KnownError {
  return isError(error)
}

/** Whether the text is an error code that this version of the SDK knows. */
export function isErrorCode(code: unknown): code is ErrorCode {
  const known: readonly unknown[] = [...serverErrorCodes, ...Object.keys(clientErrorCodes)]
  return known.includes(code)
}
