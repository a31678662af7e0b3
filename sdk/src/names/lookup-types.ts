/** The types of lookups: what callers pass, and what lookups end in. All exports are public. */
import type {
  Insufficient,
  Lagging,
  Disputed as ReadDisputed,
  VoteGroup as ReadVoteGroup,
} from '@quorumscan/reader'
import type { CertifiedReceipt } from '@quorumscan/reader/certified'
import type { Threshold, TrustRule } from '@quorumscan/verifier'
import type { QuorumscanError } from '../errors.ts'
import type { ContractId } from '../platform/values.ts'

/** A live name entry. Times are ISO-8601 UTC with six fractional digits. */
export type NameEntry = {
  readonly name: string
  /** The party that owns the name. */
  readonly party: string
  /** Empty if it has none. The owner can write anything here. */
  readonly url: string
  /** Empty if it has none. The owner can write anything here. */
  readonly description: string
  /** null: it never expires, like the names of the operator and the super-validators. */
  readonly expiresAt: string | null
  /** null for the names of the operator and the super-validators. */
  readonly contractId: ContractId | null
}

/** The name has another owner than when it was last accepted on this device. Times are record times. */
export type NameChange = {
  readonly name: string
  readonly previousParty: string
  /** When the name was first seen with `previousParty`, or last accepted. */
  readonly previousSeenAt: string
  readonly party: string
  /** When it was read with `party`. The owner changed between the two times. */
  readonly seenAt: string
}

/**
 * What a party states about itself in the description of its entry, by key (CIP-0056). The party can write anything
 * here: a proof shows who stated it, not that it is true.
 */
export type Metadata = Readonly<Record<string, string>>

/** What `register` writes: the https URLs of the party's token registry, or metadata by key. */
export type MetadataInput = { readonly registryUrls: readonly string[] } | Metadata

/** A proven entry of a list, or of a party. */
export type FoundEntry = NameEntry & {
  /** Not null: the clock of this device is wrong, as in `AnswerFacts`. */
  readonly clockSkewMs: number | null
  /** Not null: warn the user before sending to the party. Remains until `acceptChange`. */
  readonly changed: NameChange | null
}

/**
 * Who checked an answer, and how; the strongest first. It means the same in every part of the SDK.
 *
 * `proof`: this program checked a proof and signatures. `votes`: this program compared the answers of several scans.
 * `proxy`: a validator checked, and is trusted to have done so. `claimed`: one server stated it, and nothing was checked.
 */
export type Basis = 'proof' | 'votes' | 'proxy' | 'claimed'

/** The ledger offset of an answer, and the members that confirm it. */
export type AnswerFacts = {
  /** Ledger offset that was read. */
  readonly offset: number
  /** Record time of that offset. */
  readonly recordTime: string
  /** How many of `nodeCount` members had to sign the state, or to give equal votes. */
  readonly threshold: number
  /** The members whose signatures count: all, or those of the trust rule. */
  readonly nodeCount: number
  /** The rule of the option `trust`, which was applied; null: all members count. */
  readonly trust: TrustRule | null
  /** Names of the members that signed the proven state, or that gave this answer. */
  readonly agreed: readonly string[]
  /** Names of the nodes that gave another answer to the proxy. */
  readonly dissented: readonly string[]
  readonly basis: 'proof' | 'proxy'
  /**
   * Not null: the clock of this device is wrong. It lags the record time that members have signed by so many ms, which is
   * more than 10 s. The proven time was used for ages and expiry, and f + 1 nodes were asked. Tell the user to set the clock.
   */
  readonly clockSkewMs: number | null
  /** Proves the answer to every program that knows the genesis; null unless it was requested. */
  readonly receipt: CertifiedReceipt | null
}

/** A state that enough members signed. */
export type VoteGroup = Omit<ReadVoteGroup, 'recordTime'> & {
  /** Record time of its offset. */
  readonly recordTime: string
}

/** Two certificates for one offset conflict: more than f members lie, or the log forked. */
export type Disputed = Omit<ReadDisputed, 'groups'> & { readonly groups: readonly VoteGroup[] }

/** A proven entry, with what has changed. */
type Entered = AnswerFacts & {
  readonly entry: NameEntry
  /** Not null: warn the user before sending to the party. Remains until `acceptChange`. */
  readonly changed: NameChange | null
}

/** The owner of the name is proven. `trusted`: the network has so few nodes that each one is believed. */
export type Found = Entered & { readonly kind: 'verified' | 'trusted' }

/** It is proven that no such entry exists. */
export type Absent = AnswerFacts & {
  readonly kind: 'verified-absent' | 'trusted-absent'
  readonly entry: null
}

/** It is proven that the name belongs to another party than `expectParty`. */
export type Mismatch = Entered & { readonly kind: 'mismatch'; readonly expectedParty: string }

/** The proven entry has expired, by the clock of this device or by proven time: the name has no owner now, or another one. */
export type Expired = Entered & { readonly kind: 'expired' }

/** All outcomes of a lookup. Only `Found` and `Absent` are answers to act on. */
export type LookupOutcome = Found | Absent | Mismatch | Expired | Disputed | Insufficient | Lagging

/** The text cannot be a name, or a party. No node was asked. */
export type Invalid = {
  readonly kind: 'invalid'
  readonly entry: null
  /** INVALID_NAME or INVALID_PARTY; the message has the reason. */
  readonly error: QuorumscanError
}

/** Bounds of a lookup. Each overrides the default of the client. */
export type LookupOptions = {
  /** Members that must have signed: `weak` = f+1 (default), `strong`, `all`, or a number from f+1 to n. */
  readonly threshold?: Threshold
  /** Read nothing older than this offset, e.g. that of a receipt. */
  readonly minOffset?: number
  /** Refuse an answer whose record time is older, in ms. Default 60 000. */
  readonly maxAgeMs?: number
  /** Timeout of the whole call, in ms. Default 10 000. */
  readonly timeoutMs?: number
  /** Aborts the call, which rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/** Options of `resolve`. */
export type ResolveOptions = LookupOptions & {
  /**
   * Called if the owner of the name has changed since the name was last accepted on this device. Returning `true`
   * accepts the new party permanently. Any other result, and a missing function, throws NAME_CHANGED. The function may
   * wait for the user: the timeout does not run meanwhile.
   */
  readonly acceptChange?: (change: NameChange) => boolean | Promise<boolean>
}

/**
 * `offline`: this device reports that it is, or was at its last request. `stale`: the last answer is too old. `failed`: the
 * error has the cause.
 */
export type UnverifiedReason =
  | { readonly reason: 'failed'; readonly error: QuorumscanError }
  | { readonly reason: 'offline' | 'stale'; readonly error: QuorumscanError | null }
/** The owner of the name is not known, or no longer. */
export type Unverified = UnverifiedReason & { readonly kind: 'unverified' }
/** What is known of a watched name now. */
export type Watched = LookupOutcome | Unverified

/** Options of `watch`. */
export type WatchOptions = Omit<LookupOptions, 'minOffset'> & {
  readonly expectParty?: string
  /** Time between requests, in ms. Default 250, as often as members certify. */
  readonly pollMs?: number
  /**
   * Called once, with a function that looks the name up again at once, unless a request is open. What is known keeps its
   * age meanwhile, which a new watch would not know.
   */
  readonly onStart?: (askAgain: () => void) => void
}

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
  resolve(name: string, options?: ResolveOptions): Promise<string | null>
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
   * A lookup with all facts and a receipt.
   *
   * @example const outcome = await scan.names.lookup('alice', { threshold: 'strong', maxAgeMs: 30_000 })
   * @throws {QuorumscanError} INVALID_NAME, INVALID_ARGUMENT, TIMEOUT. What nodes answer, or fail to answer, is an outcome.
   */
  lookup(
    name: string,
    options?: LookupOptions & {
      /** The party that the caller expects. Any other one is `mismatch`. */
      readonly expectParty?: string
      /** Whether to return a receipt of this lookup alone. Default true. */
      readonly receipt?: boolean
    },
  ): Promise<LookupOutcome>
  /**
   * An outcome for each name, in order, without receipts; lookups share their requests. Throws as `lookup`.
   *
   * @example for (const { kind } of await scan.names.resolveMany(['alice', 'bob'])) console.log(kind)
   */
  resolveMany(
    names: readonly string[],
    options?: LookupOptions,
  ): Promise<readonly (LookupOutcome | Invalid)[]>
  /** An outcome for each party, in order, without receipts, each entry checked forward. Throws as `lookup`. */
  reverseMany(
    parties: readonly string[],
    options?: LookupOptions,
  ): Promise<readonly (LookupOutcome | Invalid)[]>
  /**
   * All live entries whose name starts with the prefix, in byte order. All pages are read at one offset. A walk that
   * takes longer than nodes keep the offset, a minute, continues at a newer one. Listed names are not remembered.
   *
   * @example for await (const { name, party } of scan.names.search('al')) console.log(name, party)
   */
  search(prefix: string, options?: ListOptions): AsyncIterableIterator<FoundEntry>
  /** All live entries of a party, in byte order of the names. Otherwise as `search`. */
  namesOf(party: string, options?: ListOptions): AsyncIterableIterator<FoundEntry>
  /**
   * Whether the name can be registered now.
   *
   * @example if (await validator.names.isAvailable('erin')) await validator.names.register({ name: 'erin' })
   * @throws {QuorumscanError} INVALID_NAME or NAME_SUFFIX_MISSING if it never can be registered, with the rule in
   *   `details`; otherwise as `resolve`.
   */
  isAvailable(name: string, options?: LookupOptions): Promise<boolean>
  /**
   * Yields what is known of a name: at first, and then at each change. The end of an entry is reported at its time, a
   * change of owner within two certificates, a failure once the last answer is too old. Nothing is asked while the page is
   * hidden, and dead nodes are asked less and less often. Leave the loop to stop.
   *
   * @example for await (const now of scan.names.watch('alice')) show(now.kind)
   * @throws {QuorumscanError} INVALID_NAME, and other errors that a retry cannot change.
   */
  watch(name: string, options?: WatchOptions): AsyncIterableIterator<Watched>
  /** Records that the user accepts `party` as the new owner of the name. @example await scan.names.acceptChange('alice', entry.party) */
  acceptChange(name: string, party: string): Promise<void>
}

/** Options of lists. */
export type ListOptions = LookupOptions & {
  /** From 1 to 1000. Default 100. */
  readonly pageSize?: number
}
