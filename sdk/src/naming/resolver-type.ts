/** The resolver of what users type, and its options. All exports are public. */
import type { NetworkName } from '@quorumscan/verifier'
import type { Basis, NameChange } from '../names/lookup-types.ts'
import type { Shown } from '../names/shown.ts'
import type { Clock } from '../platform/clock.ts'
import type { PartyResolver } from './party-resolver.ts'
import type { Candidate, Resolution } from './results.ts'
import type { ResolverWatchOptions } from './watch-resolution.ts'

/** Options of `createResolver`: the network, its naming systems, and how well an answer must be checked. */
export type ResolverOptions = {
  /** Names of another network are `invalid`. */
  readonly network: NetworkName
  /** In order of priority. Several may have the same id: then each confirms the others. */
  readonly resolvers: readonly PartyResolver[]
  /**
   * The weakest basis of an answer that becomes `party`. Default `proxy`: all but what is only claimed, so also the word of
   * one scan (`trusted`) or one validator (`proxy`) that the application has chosen. With `votes` or `proof` no single
   * server can name the party that is paid.
   */
  readonly minBasis?: Basis
  /** For a whole call, in ms. Default 10 000. */
  readonly timeoutMs?: number
  readonly clock?: Clock
}

/** Options of one call. */
export type ResolveCall = {
  readonly timeoutMs?: number
  /** Ends the call: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** Resolves what users type, and finds names of parties. */
export interface Resolver {
  /**
   * The party of a typed name, qualified name or party identifier.
   *
   * @param call.acceptChange - Called where the name belongs to another party than when it was last accepted on this
   *   device. `true` accepts the new party for good; without it the outcome is `changed`.
   * @throws The reason of `signal`, INVALID_ARGUMENT for an option that it does not have, and OFFLINE or PART_UNAVAILABLE
   *   if the check of options cannot be loaded: all else is an outcome.
   */
  resolve(
    typed: string,
    call?: ResolveCall & {
      readonly acceptChange?: true | ((change: NameChange) => boolean | Promise<boolean>)
    },
  ): Promise<Resolution>
  /**
   * Yields what is known of a typed text: the first answer or failure, and then each change, as `names.watch`. The end of an
   * entry is reported at its time, a dispute and an acceptance in another tab at once, a change of owner within `pollMs`.
   *
   * @throws {QuorumscanError} INVALID_NAME, INVALID_PARTY, CLOSED.
   */
  watch(typed: string, options?: ResolverWatchOptions): AsyncIterableIterator<Shown<Candidate>>
  /** Accepts `party` as the owner of a typed name for good. If another change came meanwhile, nothing is accepted. */
  acceptChange(typed: string, party: string): Promise<void>
  /**
   * Names of a party, each of which leads back to the party and is checked as `minBasis` demands, in the order of the
   * resolvers; [] if none exists. A name that cannot be qualified is left out.
   *
   * @throws {QuorumscanError} INVALID_PARTY, and the first failure if no resolver found a name and one failed.
   */
  reverse(party: string, call?: ResolveCall): Promise<readonly Candidate[]>
}
