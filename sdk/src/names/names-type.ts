/** The lookups of a client. All exports are public. */

import type { Party } from '../platform/party.ts'
import type { LookupOutcome } from './lookup-outcome.ts'
import type {
  FoundEntry,
  Listed,
  ListOptions,
  LookupOptions,
  Metadata,
  NameEntry,
  ResolveOptions,
  WatchOptions,
} from './lookup-types.ts'
import type { Shown } from './shown.ts'

/**
 * Lookups of names and parties, with the same results from scan nodes and from a validator. Names are accepted as
 * people type them (`normalizeName`). A text that cannot be a name is INVALID_NAME, never absent.
 */
export interface Names {
  /**
   * The party that owns a name, or null if it is proven that no such entry exists.
   *
   * @example const party = await scan.names.resolve('alice', { acceptChange: askUser })
   * @throws {QuorumscanError} NAME_CHANGED if the owner has changed since the name was last accepted, unless
   *   `acceptChange` accepts it; NAME_EXPIRED, INVALID_NAME, CONSENSUS_DISPUTED, NOT_ENOUGH_NODES, CONSENSUS_LAGGING, TIMEOUT, …
   *   Only proven answers are returned.
   */
  resolve(name: string, options?: ResolveOptions): Promise<Party | null>
  /**
   * The entry that represents a party, or null. It is checked forward: a name that does not resolve to the party
   * counts as absent. Throws as `resolve` and INVALID_PARTY, but not NAME_CHANGED: the entry has `changed`.
   *
   * @example const name = (await scan.names.reverse(party))?.name ?? shortParty(party)
   */
  reverse(party: string, options?: LookupOptions): Promise<FoundEntry | null>
  /**
   * The metadata of a party (CIP-0056), of the entry that `reverse` returns; null without an entry, and if its description
   * has none. Members with an invalid key are left out. Throws as `reverse`.
   */
  metadata(party: string, options?: LookupOptions): Promise<Metadata | null>
  /**
   * The https URLs of the token registry that a party runs, in its order; [] if it states none. Throws as `reverse`.
   *
   * @param adminParty - The party that administers the instruments of the registry.
   * @example const [url] = await scan.names.registryUrls(instrumentId.admin)
   */
  registryUrls(adminParty: string, options?: LookupOptions): Promise<readonly string[]>
  /**
   * A lookup with all facts and a receipt, in the vocabulary of `Shown`.
   *
   * @example const outcome = await scan.names.lookup('alice', { threshold: 'strong', maxAgeMs: 30_000 })
   * @throws {QuorumscanError} INVALID_NAME, INVALID_ARGUMENT, TIMEOUT. What nodes answer, or fail to answer, is an outcome.
   */
  lookup(
    name: string,
    options?: LookupOptions & {
      /** The party that the caller expects. Any other one is `failed` with NAME_MISMATCH. */
      readonly expectParty?: string
      /** Whether to return a receipt of this lookup alone. Default true. */
      readonly receipt?: boolean
    },
  ): Promise<LookupOutcome>
  /**
   * An outcome for each name, in order, without receipts; lookups share their requests. Throws as `lookup`, but a text that
   * cannot be a name is `failed`.
   *
   * @example for (const { kind } of await scan.names.resolveMany(['alice', 'bob'])) console.log(kind)
   */
  resolveMany(names: readonly string[], options?: LookupOptions): Promise<readonly LookupOutcome[]>
  /** An outcome for each party, in order, without receipts, each entry checked forward. Throws as `resolveMany`. */
  reverseMany(
    parties: readonly string[],
    options?: LookupOptions,
  ): Promise<readonly LookupOutcome[]>
  /**
   * All live entries whose name starts with the prefix, in byte order. All pages are read at one offset. A walk that
   * takes longer than nodes keep the offset, a minute, continues at a newer one. Listed names are not remembered. `party`
   * of an entry is null if its owner is not a party.
   *
   * @example for await (const { name, party } of scan.names.search('al')) console.log(name, party ?? 'invalid')
   */
  search(prefix: string, options?: ListOptions): AsyncIterableIterator<Listed<FoundEntry>>
  /** All live entries of a party, in byte order of the names. Otherwise as `search`. */
  namesOf(party: string, options?: ListOptions): AsyncIterableIterator<Listed<FoundEntry>>
  /**
   * Whether the name can be registered now.
   *
   * @example if (await validator.names.isAvailable('erin')) await validator.names.register({ name: 'erin' })
   * @throws {QuorumscanError} INVALID_NAME or NAME_SUFFIX_MISSING if it never can be registered, with the rule in
   *   `details`; otherwise as `resolve`.
   */
  isAvailable(name: string, options?: LookupOptions): Promise<boolean>
  /**
   * Yields what is known of a name: the first answer or failure, and then each change. The end of an entry is reported at
   * its time, a dispute at once, a change of owner within two certificates, a failure once the last answer is too old.
   * Nothing is asked while the page is hidden, and dead nodes are asked less and less often. Leave the loop to stop.
   *
   * @example for await (const now of scan.names.watch('alice')) show(now.kind)
   * @throws {QuorumscanError} INVALID_NAME, and other errors that a retry cannot change.
   */
  watch(name: string, options?: WatchOptions): AsyncIterableIterator<Shown<NameEntry>>
  /**
   * Records that the user accepts `party` as the new owner of the name.
   *
   * @example await scan.names.acceptChange('alice', entry.party)
   * @throws {QuorumscanError} INVALID_NAME, INVALID_PARTY, STORE_UNAVAILABLE, SEEN_NAMES_FULL.
   */
  acceptChange(name: string, party: string): Promise<void>
}
