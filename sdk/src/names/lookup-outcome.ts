/** What one lookup ends in. All exports are public. */
import type { AnswerFacts, NameEntry } from './lookup-types.ts'
import type { Shown } from './shown.ts'

/**
 * The outcome of one lookup: `Shown` without what only time brings (`pending`, `stale`), with the facts of its answer.
 * Only `proven` is an answer to act on, and it is as good as its `basis`.
 *
 * `failed`: `facts` is null without a proven answer: CONSENSUS_DISPUTED, CONSENSUS_LAGGING, NOT_ENOUGH_NODES, NETWORK_ERROR
 * and RATE_LIMITED have the answers of the nodes in `error.details.outcome`; for INVALID_NAME and INVALID_PARTY no node was
 * asked. NAME_EXPIRED and NAME_MISMATCH are proven, with the entry in `error.details.entry`; so is INVALID_RESPONSE: the
 * owner that enough members signed is not a party.
 */
export type LookupOutcome = LookupAnswer | LookupFailure

/** The entry is proven, or that there is none. */
export type LookupAnswer = AnswerFacts &
  Extract<Shown<NameEntry>, { readonly kind: 'proven' | 'changed' }>

/** There is no entry to act on. */
export type LookupFailure = Extract<Shown<NameEntry>, { readonly kind: 'failed' }> & {
  readonly facts: AnswerFacts | null
}
