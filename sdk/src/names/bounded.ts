/** What all reads share: bounds of a call, and the outcomes of reads before callers get them. */
import type { Lagging, Disputed as ReadDisputed } from '@quorumscan/reader'
import type {
  CertifiedAnswer,
  CertifiedQuery,
  CertifiedReadOptions,
  Unproven,
} from '@quorumscan/reader/certified'
import type { Lookup } from '@quorumscan/verifier'
import type { CertifiedEntry, CertifiedPage, PageSubject } from '@quorumscan/verifier/certified'
import { failure, type QuorumscanError } from '../errors.ts'
import type { Clock } from '../platform/clock.ts'
import { READ_TIMEOUT_MS, withDeadline } from '../platform/deadline.ts'
import { isParty, type Party } from '../platform/party.ts'
import type { ContractId } from '../platform/values.ts'
import type { AnswerFacts, Listed, LookupOptions, NameEntry } from './lookup-types.ts'
import type { ReadsOptions } from './reads-options.ts'

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
  readonly basis: 'proof' | 'proxy'
  /** The key of a stored value of this network. */
  storeKey(what: string): Promise<string>
  lookup(
    lookups: readonly Lookup[],
    options: SourceRead,
  ): Promise<ReadOutcome<CertifiedEntry | null>[]>
  page(page: EntriesPage, options: SourceRead): Promise<ReadOutcome<CertifiedPage>>
  read<Answer>(query: CertifiedQuery<Answer>, options: SourceRead): Promise<ReadOutcome<Answer>>
}

/** Who checked an answer of a source. Where one signature is enough, one member decides alone. */
export function basisOf(
  { basis }: Pick<LookupSource, 'basis'>,
  { threshold }: Pick<Answered<unknown>, 'threshold'>,
): AnswerFacts['basis'] {
  return basis === 'proof' && threshold === 1 ? 'trusted' : basis
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
    const {
      timeoutMs = READ_TIMEOUT_MS,
      threshold,
      maxAgeMs,
      minOffset,
    } = { ...defaults, ...lookup }
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

/** Enough members signed an entry whose owner is not a party. */
export function invalidOwner({ name }: CertifiedEntry): QuorumscanError {
  return failure('INVALID_RESPONSE', `The owner of ${name} is not a party. Do not use the entry.`)
}

/**
 * The owner of a proven entry.
 *
 * @throws {QuorumscanError} INVALID_RESPONSE if the owner is not a party.
 */
export function ownerOf(entry: CertifiedEntry): Party {
  if (isParty(entry.user)) return entry.user
  throw invalidOwner(entry)
}

/** @throws {QuorumscanError} As `ownerOf`. */
export function toEntry(entry: CertifiedEntry): NameEntry {
  return { ...toListed(entry), party: ownerOf(entry) }
}

/** An entry of a list, of which one without a valid owner hides no other one. */
export function toListed(entry: CertifiedEntry): Listed<NameEntry> {
  return {
    name: entry.name,
    party: isParty(entry.user) ? entry.user : null,
    url: entry.url,
    description: entry.description,
    expiresAt: entry.expires_at,
    contractId: entry.contract_id as ContractId | null, // As the ledger has it.
  }
}
