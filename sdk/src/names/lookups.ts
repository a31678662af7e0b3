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

/** What was asked for can be no name: nobody was asked. */
export type Invalid = {
  readonly kind: 'invalid'
  readonly entry: null
  /** INVALID_NAME, with what is wrong in its message. */
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
