/** What all reads share: options of the clients, bounds of a call, and the outcomes of reads before callers get them. */
import type { Lagging, Disputed as ReadDisputed } from '@quorumscan/reader'
import type {
  CertifiedAnswer,
  CertifiedQuery,
  CertifiedReadOptions,
  Unproven,
} from '@quorumscan/reader/certified'
import type { CryptoPort, Lookup, Threshold } from '@quorumscan/verifier'
import type { CertifiedEntry, CertifiedPage, PageSubject } from '@quorumscan/verifier/certified'
import type { QuorumscanError } from '../errors.ts'
import type { Traceparent } from '../http/traced-fetch.ts'
import type { Clock } from '../platform/clock.ts'
import { TIMEOUT_MS, withDeadline } from '../platform/deadline.ts'
import { anything, isFunction, isMs, isObject, isThreshold, isWhole } from '../platform/options.ts'
import type { Store } from '../platform/store.ts'
import type { ContractId } from '../platform/values.ts'
import type { AnswerFacts, LookupOptions, NameChange, NameEntry } from './lookup-types.ts'

/** Options of every client that reads. */
export type ReadsOptions = {
  /** Default for every lookup; `weak` (f+1 signers) unless given. */
  readonly threshold?: Threshold
  /** Default for every lookup: the greatest age of an answer by record time, in ms. 60 000 unless given. */
  readonly maxAgeMs?: number
  /** Timeout of a whole call, in ms. Default 10 000. */
  readonly timeoutMs?: number
  /** Stores the verified floor, node addresses and last seen parties across restarts. Default: in memory. */
  readonly store?: Store
  /**
   * Called when the store cannot be read or written, or has a damaged value; once until it can be used again. With it, calls
   * continue with what this client has in memory, and a change of owner since the last run may remain undetected: tell the
   * user. Without it, the calls that need the store throw STORE_UNAVAILABLE.
   */
  readonly onStoreFailure?: (error: QuorumscanError) => void
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
  /** The trace of requests. It is read when a request is sent, which several lookups may share. */
  readonly traceparent?: Traceparent
  /** For timeouts, pauses and freshness. Default: the platform's. */
  readonly clock?: Clock
  /** SHA-256 and Ed25519. Default: WebCrypto. Without either, reads fail. */
  readonly crypto?: CryptoPort
  /**
   * How many names this client remembers with their parties. No name is forgotten, so a lookup of one more name throws
   * SEEN_NAMES_FULL. Default 10 000; with 0 no name is remembered, and no change of owner is detected.
   */
  readonly seenNamesMax?: number
  /** Called if a name has another owner than when it was last accepted, once for each name and party. */
  readonly onChanged?: (change: NameChange) => void
}

/** The checks of `ReadsOptions`. */
export const READS_CHECKS = {
  threshold: isThreshold,
  maxAgeMs: isMs,
  timeoutMs: isMs,
  store: isObject,
  fetch: isFunction,
  traceparent: anything,
  clock: isObject,
  crypto: isObject,
  seenNamesMax: isWhole(0),
  onChanged: isFunction,
  onStoreFailure: isFunction,
} as const

export type BoundRead = CertifiedReadOptions & {
  readonly signal: AbortSignal
  /** When the call has to end, by the monotonic clock. */
  readonly endsAtMs: number
}

export type Bounds = {
  readonly clock: Clock
  /** Runs a call within its deadline. */
  bounded<T>(what: string, lookup: LookupOptions, run: (read: BoundRead) => Promise<T>): Promise<T>
}

/** A proven answer. The receipt is removed unless the caller wants it. */
export type Answered<Answer> = CertifiedAnswer<Answer>
export type Unanswered = ReadDisputed | Unproven | Lagging
export type ReadOutcome<Answer = unknown> = Answered<Answer> | Unanswered

/** A read of a source, which reads nothing older than what clients of the store have seen or written. */
export type SourceRead = CertifiedReadOptions & {
  /** An offset that a server stated: a floor until it proves to be invented. */
  readonly statedOffset?: number
}

/** Where lookups are answered: by the nodes themselves, or by the scan proxy of a validator. */
export type LookupSource = {
  readonly basis: AnswerFacts['basis']
  /** The key of a stored value of this network. */
  storeKey(what: string): Promise<string>
  lookup(
    lookups: readonly Lookup[],
    options: SourceRead,
  ): Promise<ReadOutcome<CertifiedEntry | null>[]>
  page(page: EntriesPage, options: SourceRead): Promise<ReadOutcome<CertifiedPage>>
  read<Answer>(query: CertifiedQuery<Answer>, options: SourceRead): Promise<ReadOutcome<Answer>>
}

/** A page of the entries of a prefix or of a party. */
export type EntriesPage = {
  readonly subject: PageSubject
  readonly pageSize: number
  /** The token that the previous page returned; null: the first page. */
  readonly pageToken: string | null
  /** The last name of the previous pages. */
  readonly after: string | null
}

export function createBounded(
  defaults: Pick<ReadsOptions, 'threshold' | 'maxAgeMs' | 'timeoutMs'> & {
    readonly clock: Clock
  },
): Bounds['bounded'] {
  const { clock } = defaults
  return (what, lookup, run) => {
    const { timeoutMs = TIMEOUT_MS, threshold, maxAgeMs, minOffset } = { ...defaults, ...lookup }
    const endsAtMs = clock.monotonicMs() + timeoutMs
    return withDeadline({ clock, timeoutMs, signal: lookup.signal, what }, (signal) =>
      run({ threshold, maxAgeMs, minOffset, signal, endsAtMs }),
    )
  }
}

/** The higher of a floor and the caller's offset. An invalid offset is returned as it is, for the reader to refuse. */
export function notBelow(floor: number, minOffset = 0): number {
  return minOffset < 0 ? minOffset : Math.max(minOffset, floor)
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
