/** What is shown of something that is read again and again: the one vocabulary of watches and hooks. All exports are public. */
import type { KnownError } from '../known-errors.ts'
import type { Basis, NameChange } from './lookup-types.ts'

/**
 * What is known now. Pay only to the value of `proven`, and look at its `basis`: with `trusted` and `proxy` one server could
 * have made it up. `claimed` answers are `proven` only for a resolver whose `minBasis` allows them.
 *
 * Age counts by record time, so that an answer is too old at the same moment everywhere, whenever it arrived. The later of
 * device time and proven time decides whether a value has ended.
 *
 * - `pending`: no answer yet.
 * - `proven`: the answer is recent, and checked as well as `basis` says, which is not always a proof. `value` is null if it is proven that there is none.
 *   `validUntil` is when the value ends; null: never.
 * - `changed`: proven, but the owner is another one than when it was last accepted: show both, and ask the user.
 * - `stale`: the last answer is older than `maxAgeMs`. It may be shown; do not pay to it. `error`: why there is no newer one;
 *   null: nothing was asked, as while the page is hidden.
 * - `failed`: there is no answer to show. `error.code` says why: OFFLINE, CONSENSUS_DISPUTED, NAME_EXPIRED, INVALID_NAME, …
 *
 * `recordTime` is null where the source has none, such as a resolver over HTTP; its age counts from arrival.
 */
export type Shown<T> =
  | { readonly kind: 'pending' }
  | {
      /** Recent, and checked as well as `basis` says. */
      readonly kind: 'proven'
      readonly value: T | null
      /** `proof` and `votes`: no single server can make it up. `trusted`, `proxy` and `claimed`: one could. */
      readonly basis: Basis
      readonly recordTime: string | null
      readonly validUntil: string | null
    }
  | { readonly kind: 'changed'; readonly value: T; readonly previous: NameChange }
  | {
      readonly kind: 'stale'
      readonly value: T | null
      readonly recordTime: string | null
      readonly error: KnownError | null
    }
  | { readonly kind: 'failed'; readonly error: KnownError }
