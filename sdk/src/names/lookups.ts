/** The words of lookups: what is asked, and what it can end in. No code. */
import type {
  CanonicalRequest,
  Disputed,
  Insufficient,
  Lagging,
  Lookup,
  Outcome,
  ReadOptions,
  ReadRequest,
  Receipt,
  Threshold,
} from '@quorumscan/consensus'

/** A live name entry. Times are ISO-8601 UTC with six fractional digits. */
export type NameEntry = {
  readonly name: string
  /** Whom the name belongs to. */
  readonly party: string
  /** Empty if it has none. Anybody can write anything here. */
  readonly url: string
  /** Empty if it has none. Anybody can write anything here. */
  readonly description: string
  /** null: it never expires, as the operator's and the super-validators' own. */
  readonly expiresAt: string | null
  /** null for the operator's and the super-validators' own. */
  readonly contractId: string | null
}

/** The name belongs to somebody else than when it was last accepted on this device. */
export type NameChange = {
  readonly name: string
  readonly previousParty: string
  readonly party: string
}

/** Where an answer comes from in the ledger, and who stands behind it. */
export type AnswerFacts = {
  /** Ledger offset that was read. */
  readonly offset: number
  /** Record time of that offset, µs since the epoch. */
  readonly recordTime: number
  /** Equal votes that were needed, of `nodeCount`. */
  readonly threshold: number
  readonly nodeCount: number
  /** Names of the nodes that gave this answer, of those heard in time. */
  readonly agreed: readonly string[]
  /** Names of the nodes that gave another. */
  readonly dissented: readonly string[]
  /**
   * `self`: this program compared the nodes' answers or checked their signatures. `proxy`: the validator
   * did, and is trusted to have.
   */
  readonly verifiedBy: 'self' | 'proxy'
  /** Proves the answer to whoever knows the genesis; null unless it was asked for. */
  readonly receipt: Receipt | null
}

/** Enough nodes agree on who owns the name. `trusted`: there are too few nodes to outvote a lying one. */
export type Found = AnswerFacts & {
  readonly kind: 'verified' | 'trusted'
  readonly entry: NameEntry
  /** Not null: warn before anything is sent there. Stays until `acceptChange`. */
  readonly changed: NameChange | null
}

/** Enough nodes agree that there is no such entry. */
export type Absent = AnswerFacts & {
  readonly kind: 'verified-absent' | 'trusted-absent'
  readonly entry: null
}

/** Enough nodes agree that the name belongs to another party than `expectParty`. */
export type Mismatch = AnswerFacts & {
  readonly kind: 'mismatch'
  readonly entry: NameEntry
  readonly expectedParty: string
  readonly changed: NameChange | null
}

/** All that a lookup can end in. Only `Found` and `Absent` are answers to act on. */
export type LookupOutcome = Found | Absent | Mismatch | Disputed | Insufficient | Lagging

/** What a lookup may be bound by; each overrules the default of the client. */
export type LookupOptions = {
  /** Equal votes that are needed: `weak` = f+1 (default), `strong`, `all`, or a number from f+1 to n. */
  readonly threshold?: Threshold
  /** Read nothing older than this offset, e.g. that of a receipt. */
  readonly minOffset?: number
  /** Refuse an answer whose record time is older. Default 60 000. */
  readonly maxAgeMs?: number
  /** For the whole call. Default 10 000. */
  readonly timeoutMs?: number
  /** Ends the call: it rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/** Where lookups are answered: the nodes themselves, or a validator's scan proxy. */
export interface LookupSource {
  readonly verifiedBy: 'self' | 'proxy'
  /** Prefix of what is remembered about this network. */
  storeKey(what: string): Promise<string>
  lookup(lookups: readonly Lookup[], options: ReadOptions): Promise<Outcome[]>
  read(request: ReadRequest, options: ReadOptions): Promise<Outcome>
  /** null where the nodes' signatures did not come along. */
  receipt(outcome: Outcome, request: CanonicalRequest): Promise<Receipt | null>
}
