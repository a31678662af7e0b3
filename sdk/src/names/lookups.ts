/** The words of lookups: what is asked, and what it can end in. */
import type {
  Insufficient,
  Lagging,
  Disputed as ReadDisputed,
  VoteGroup as ReadVoteGroup,
} from '@quorumscan/reader'
import type {
  CertifiedReadOptions,
  CertifiedReceipt,
  CertifiedRequest,
} from '@quorumscan/reader/certified'
import type { Lookup, Threshold } from '@quorumscan/verifier'
import type { CertifiedEntry, CertifiedPage, PageSubject } from '@quorumscan/verifier/certified'
import type { QuorumscanError } from '../errors.ts'
import type { ContractId } from '../platform/contract-id.ts'

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
  readonly contractId: ContractId | null
}

/** The name belongs to somebody else than when it was last accepted on this device. Times are record times. */
export type NameChange = {
  readonly name: string
  readonly previousParty: string
  /** When the name was first seen, or last accepted, as that of `previousParty`. */
  readonly previousSeenAt: string
  readonly party: string
  /** When it was read as that of `party`: it changed hands between the two. */
  readonly seenAt: string
}

/** A proven entry of a list, or of a party. */
export type FoundEntry = NameEntry & {
  /** Not null: warn before anything is sent there. Stays until `acceptChange`. */
  readonly changed: NameChange | null
}

/** Where an answer comes from in the ledger, and who stands behind it. */
export type AnswerFacts = {
  /** Ledger offset that was read. */
  readonly offset: number
  /** Record time of that offset. */
  readonly recordTime: string
  /** Members that had to sign it, or equal votes that were needed, of `nodeCount`. */
  readonly threshold: number
  readonly nodeCount: number
  /** Names of the members that signed the state that it is proven from, or that gave this answer. */
  readonly agreed: readonly string[]
  /** Names of the nodes that gave another, as a proxy heard. */
  readonly dissented: readonly string[]
  /**
   * `self`: this program checked proof and signatures. `proxy`: the validator asked the nodes, and is trusted
   * to have.
   */
  readonly verifiedBy: 'self' | 'proxy'
  /** Proves the answer to whoever knows the genesis; null unless it was asked for. */
  readonly receipt: CertifiedReceipt | null
}

/** An answer as it is read, before anything is made of it. */
export type Answered<Answer> = Omit<AnswerFacts, 'verifiedBy' | 'recordTime'> & {
  /** µs since the epoch. */
  readonly recordTime: number
  readonly kind: 'verified' | 'verified-absent' | 'trusted' | 'trusted-absent'
  readonly answer: Answer
}

/** What a read ends in where it is no answer. */
export type Unanswered = ReadDisputed | Insufficient | Lagging
export type ReadOutcome<Answer = unknown> = Answered<Answer> | Unanswered

/** A state that enough members signed. */
export type VoteGroup = Omit<ReadVoteGroup, 'recordTime'> & {
  /** Record time of its offset. */
  readonly recordTime: string
}

/** Members signed two states that contradict each other: more than f lie, or the log forked. */
export type Disputed = Omit<ReadDisputed, 'groups'> & { readonly groups: readonly VoteGroup[] }

/** Proven who owns the name. `trusted`: there are so few nodes that each is believed. */
export type Found = AnswerFacts & {
  readonly kind: 'verified' | 'trusted'
  readonly entry: NameEntry
  /** Not null: warn before anything is sent there. Stays until `acceptChange`. */
  readonly changed: NameChange | null
}

/** Proven that there is no such entry. */
export type Absent = AnswerFacts & {
  readonly kind: 'verified-absent' | 'trusted-absent'
  readonly entry: null
}

/** Proven that the name belongs to another party than `expectParty`. */
export type Mismatch = AnswerFacts & {
  readonly kind: 'mismatch'
  readonly entry: NameEntry
  readonly expectedParty: string
  readonly changed: NameChange | null
}

/** Proven who owned the name, until a moment that has passed by the clock of this device: nobody does, or somebody else. */
export type Expired = AnswerFacts & {
  readonly kind: 'expired'
  readonly entry: NameEntry
  readonly changed: NameChange | null
}

/** All that a lookup can end in. Only `Found` and `Absent` are answers to act on. */
export type LookupOutcome = Found | Absent | Mismatch | Expired | Disputed | Insufficient | Lagging

/** What was asked for can be no name, or no party: no node was asked. */
export type Invalid = {
  readonly kind: 'invalid'
  readonly entry: null
  /** INVALID_NAME or INVALID_PARTY, with what is wrong in its message. */
  readonly error: QuorumscanError
}

/** What a lookup may be bound by; each overrules the default of the client. */
export type LookupOptions = {
  /** Members that must have signed: `weak` = f+1 (default), `strong`, `all`, or a number from f+1 to n. */
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

/** What `resolve` takes. */
export type ResolveOptions = LookupOptions & {
  /**
   * Asked where the name belongs to somebody else than when it was last accepted on this device. `true` accepts the
   * new party for good; anything else, and that nothing was passed in, throws NAME_CHANGED. It may wait for the user:
   * no deadline runs meanwhile.
   */
  readonly acceptChange?: (change: NameChange) => boolean | Promise<boolean>
}

/** Nobody can say any more, or yet, who owns the name. */
export type Unverified = {
  readonly kind: 'unverified'
  /** `offline`: this device says that it is, or was when it last asked. `stale`: the last answer is too old. `failed`: see `error`. */
  readonly reason: 'offline' | 'stale' | 'failed'
  readonly error: QuorumscanError | null
}
/** What holds at a moment. */
export type Watched = LookupOutcome | Unverified

/** What watching a name takes. */
export type WatchOptions = Omit<LookupOptions, 'minOffset'> & {
  readonly expectParty?: string
  /** How often it is asked for, in ms. Default 250, as often as members certify. */
  readonly pollMs?: number
}

/**
 * Lookups of names and parties: the same whether the scan nodes or a validator are asked. Names are taken as people
 * type them (`normalizeName`); what can be none is INVALID_NAME, and never said to be absent.
 */
export interface Names {
  /**
   * The party that a name belongs to, or null if it is proven that there is none.
   *
   * @throws {QuorumscanError} NAME_CHANGED if it belongs to somebody else than when it was last accepted, unless
   *   `acceptChange` says otherwise; NAME_EXPIRED, INVALID_NAME, CONSENSUS_DISPUTED, NOT_ENOUGH_NODES, CONSENSUS_LAGGING, TIMEOUT, …
   *   Whatever is not proven is thrown, never returned.
   */
  resolve(name: string, options?: ResolveOptions): Promise<string | null>
  /**
   * The entry that stands for a party, or null. Checked forward: a name that does not lead back to the
   * party is none. Throws as `resolve`, but for NAME_CHANGED: the entry has `changed`; and INVALID_PARTY.
   */
  reverse(party: string, options?: LookupOptions): Promise<FoundEntry | null>
  /**
   * A lookup with all that is known about it, a receipt among it.
   *
   * @throws {QuorumscanError} INVALID_NAME, INVALID_ARGUMENT, TIMEOUT. What nodes say or fail to say is an outcome.
   */
  lookup(
    name: string,
    options?: LookupOptions & {
      /** Whom the caller believes the name to belong to: anybody else is `mismatch`. */
      readonly expectParty?: string
      /** Whether a receipt, of this lookup alone, is wanted. Default true. */
      readonly receipt?: boolean
    },
  ): Promise<LookupOutcome>
  /** An outcome for each name, in order, without receipts; lookups share their requests. Throws as `lookup`. */
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
   * Live entries whose name starts with the prefix, in byte order, none left out. All pages are read at one offset;
   * whoever takes longer than nodes keep it, a minute, goes on at a newer one. Names that come by are not remembered.
   */
  search(prefix: string, options?: ListOptions): AsyncIterableIterator<FoundEntry>
  /** All live entries of a party, in byte order of the names, none left out. Else as `search`. */
  namesOf(party: string, options?: ListOptions): AsyncIterableIterator<FoundEntry>
  /**
   * Whether the name can be registered now.
   *
   * @throws {QuorumscanError} INVALID_NAME or NAME_SUFFIX_MISSING if it never can be, with the rule in
   *   `details`; else as `resolve`.
   */
  isAvailable(name: string, options?: LookupOptions): Promise<boolean>
  /**
   * What holds of a name from now on: first what is known, then whenever it says something else. An entry's end shows at
   * that moment, a change of owner within two certificates; what is no answer shows once the last one is too old. Ends
   * when the loop does.
   *
   * @throws {QuorumscanError} INVALID_NAME and what else no further asking can change.
   */
  watch(name: string, options?: WatchOptions): AsyncIterableIterator<Watched>
  /** The user has seen that the name changed hands: from now on it belongs to `party`. */
  acceptChange(name: string, party: string): Promise<void>
}

/** What lists take. */
export type ListOptions = LookupOptions & {
  /** From 1 to 1000. Default 100. */
  readonly pageSize?: number
}

/** Where lookups are answered: the nodes themselves, or a validator's scan proxy. */
export interface LookupSource {
  readonly verifiedBy: 'self' | 'proxy'
  /** Prefix of what is remembered about this network. */
  storeKey(what: string): Promise<string>
  lookup(
    lookups: readonly Lookup[],
    options: CertifiedReadOptions,
  ): Promise<ReadOutcome<CertifiedEntry | null>[]>
  page(page: EntriesPage, options: CertifiedReadOptions): Promise<ReadOutcome<CertifiedPage>>
  read<Answer>(
    request: CertifiedRequest<Answer>,
    options: CertifiedReadOptions,
  ): Promise<ReadOutcome<Answer>>
}

/** Which entries: those of a prefix or of a party, by pages. */
export type EntriesPage = {
  readonly subject: PageSubject
  readonly pageSize: number
  /** Of the page before; null: the first. */
  readonly pageToken: string | null
  /** The last name of the pages before. */
  readonly after: string | null
}

export function isAnswered<Answer>(outcome: ReadOutcome<Answer>): outcome is Answered<Answer> {
  return 'answer' in outcome
}

export function toEntry(entry: CertifiedEntry): NameEntry {
  return {
    name: entry.name,
    party: entry.user,
    url: entry.url,
    description: entry.description,
    expiresAt: entry.expires_at,
    contractId: entry.contract_id as ContractId | null, // As the ledger has it.
  }
}
