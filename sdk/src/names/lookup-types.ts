/** The types of lookups: what callers pass, and what lookups end in. All exports are public. */
import type { Disputed as ReadDisputed, VoteGroup as ReadVoteGroup } from '@quorumscan/reader'
import type { CertifiedReceipt } from '@quorumscan/reader/certified'
import type { Threshold, TrustRule } from '@quorumscan/verifier'
import type { Party } from '../platform/party.ts'
import type { ContractId } from '../platform/values.ts'

/** A live name entry. Times are ISO-8601 UTC with six fractional digits. */
export type NameEntry = {
  readonly name: string
  /** The party that owns the name. Its form is checked. */
  readonly party: Party
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
  /** To be shown. Of a name that an earlier version of the SDK stored it may have another form than a party. */
  readonly previousParty: string
  /** When the name was first seen with `previousParty`, or last accepted. */
  readonly previousSeenAt: string
  readonly party: Party
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

/**
 * An entry of a list. `party` is null if the owner that enough members signed, or enough scans answered, is not a party:
 * the entry can be shown, and nothing can be sent to it.
 */
export type Listed<Entry extends NameEntry> =
  | Entry
  | (Omit<Entry, 'party'> & { readonly party: null })

/** A proven entry of a list, or of a party. */
export type FoundEntry = NameEntry & {
  readonly basis: AnswerFacts['basis']
  /** Record time of the state that was read. */
  readonly recordTime: string
  /** Not null: the clock of this device is wrong, as in `AnswerFacts`. */
  readonly clockSkewMs: number | null
  /** Not null: warn the user before sending to the party. Remains until `acceptChange`. */
  readonly changed: NameChange | null
}

/**
 * Who checked an answer, and how; the strongest first. It means the same in every part of the SDK.
 *
 * No single server can make up an answer of these: `proof`, this program checked a proof and signatures of several members;
 * `votes`, this program compared the answers of several scans.
 *
 * One server can make up an answer of these: `trusted`, one member or scan that the application trusts decided alone
 * (`threshold: 1`, also of a network of up to three nodes), or named the scans whose answers were compared; `proxy`, a
 * validator checked, and is trusted to have done so; `claimed`, one server stated it, and nothing was checked.
 */
export type Basis = 'proof' | 'votes' | 'trusted' | 'proxy' | 'claimed'

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
  /**
   * Who checked the answer, and how. `trusted`: `threshold` is 1, so that one member could make it up. `proxy`: the validator
   * could. `minBasis` of `createResolver` refuses answers that are too weak; for a lookup compare it yourself.
   */
  readonly basis: 'proof' | 'trusted' | 'proxy'
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
  readonly signal?: AbortSignal | undefined
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

/** Options of `watch`. */
export type WatchOptions = Omit<LookupOptions, 'minOffset'> & {
  /** Any other owner is NAME_MISMATCH. */
  readonly expectParty?: string
  /** Time between requests, in ms. Default 250, as often as members certify. */
  readonly pollMs?: number
  /**
   * Called once, with a function that looks the name up again at once, unless a request is open. What is known keeps its
   * age meanwhile, which a new watch would not know.
   */
  readonly onStart?: (askAgain: () => void) => void
}

/** Options of lists. */
export type ListOptions = LookupOptions & {
  /** From 1 to 1000. Default 100. */
  readonly pageSize?: number
}
