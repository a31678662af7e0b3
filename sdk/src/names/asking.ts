/** Requests answers: retries while that can help, and reads pages one after the other. */
import { type CertifiedReadOptions, requestOfEntriesPage } from '@quorumscan/reader/certified'
import { type CertifiedPage, formatPageToken, sha256 } from '@quorumscan/verifier/certified'
import type { Clock } from '../platform/clock.ts'
import {
  type Answered,
  type BoundRead,
  type Bounds,
  type EntriesPage,
  isAnswered,
  type ReadOutcome,
  type Unanswered,
} from './bounded.ts'
import type { LookupOptions } from './lookup-types.ts'
import type { OpenedReader } from './open-reader.ts'
import { outcomeError } from './outcome-error.ts'

/** Lagging nodes have usually caught up after as many retries. */
const LAGGING_RETRIES_MAX = 2
/** Nodes that were unreachable for a moment, such as under high load, usually reply after these pauses. */
const RETRY_PAUSES_MS = [250, 500, 1000, 2000]
/** The least pause, also if a node asks for a shorter one. */
const WAIT_MS_MIN = 250

/**
 * Retries until no outcome is worth waiting for, or the deadline leaves no time: a wait beyond it would replace what is
 * known by a timeout.
 *
 * @param bounds.outcomes - Of the first request. Default: it is sent here.
 * @param bounds.pausesMs - Before each retry while nodes are unreachable.
 */
export async function retryLookups<Answer>(
  ask: () => Promise<ReadOutcome<Answer>[]>,
  bounds: {
    readonly clock: Clock
    readonly read: Pick<BoundRead, 'signal' | 'endsAtMs'>
    readonly outcomes?: ReadOutcome<Answer>[]
    readonly pausesMs?: readonly number[] | undefined
  },
): Promise<ReadOutcome<Answer>[]> {
  const { clock, read, pausesMs = RETRY_PAUSES_MS } = bounds
  let outcomes = bounds.outcomes ?? (await ask())
  for (let laggingCount = 0, failureCount = 0; ; outcomes = await ask()) {
    // More requests cannot end a dispute, and the caller must know of it at once.
    if (outcomes.some(({ kind }) => kind === 'disputed')) return outcomes
    const isUnreachable = outcomes.some(({ kind }) => kind === 'insufficient')
    const askedMs =
      outcomes
        .map((outcome) => ('retryAfterMs' in outcome ? outcome.retryAfterMs : null))
        .find((ms) => ms !== null) ?? (isUnreachable ? pausesMs[failureCount++] : undefined)
    const isLagging = outcomes.some(({ kind }) => kind === 'lagging')
    if (isLagging && ++laggingCount > LAGGING_RETRIES_MAX) return outcomes
    if (askedMs === undefined) return outcomes
    const waitMs = Math.max(askedMs, WAIT_MS_MIN)
    if (clock.monotonicMs() + waitMs >= read.endsAtMs) return outcomes
    await clock.delay(waitMs, read.signal)
  }
}

/** The answer to one request, within a deadline. @throws {QuorumscanError} If the outcome is not an answer. */
export function readAnswer<Answer>(
  { bounded, clock }: Bounds,
  what: string,
  lookup: LookupOptions,
  ask: (read: BoundRead) => Promise<ReadOutcome<Answer>>,
): Promise<Answered<Answer>> {
  return bounded(what, lookup, async (read) =>
    decided(what, await retryLookups(async () => [await ask(read)], { clock, read })),
  )
}

/** @throws {QuorumscanError} If the only outcome is not an answer. */
export function decided<Answer>(
  what: string,
  [outcome]: readonly ReadOutcome<Answer>[],
): Answered<Answer> {
  if (outcome !== undefined && isAnswered(outcome)) return outcome
  throw outcomeError(what, outcome as Unanswered)
}

const RETRY_AFTER_MS = 250

/** A page of entries. If nodes no longer keep the offset of the walk, it continues after its last name at a newer one. */
export async function readEntriesPage(
  { reader, options }: OpenedReader,
  page: EntriesPage,
  read: CertifiedReadOptions,
): Promise<ReadOutcome<CertifiedPage>> {
  const { subject, after } = page
  let outcome = await reader.read(requestOfEntriesPage(page), read)
  if (outcome.kind === 'pruned' && after !== null) {
    const newest = requestOfEntriesPage({ subject, pageSize: 1, pageToken: null })
    const first = await reader.read(newest, read)
    if (!('answer' in first)) outcome = first
    else {
      const network = { ...options, sha256: options.sha256 ?? sha256 }
      const pageToken = formatPageToken(network, subject, { after, offset: first.offset })
      outcome = await reader.read(requestOfEntriesPage({ ...page, pageToken }), read)
    }
  }
  if (outcome.kind !== 'pruned') return outcome
  const newest = { wantedOffset: 0, headOffset: null, ageMs: null, retryAfterMs: RETRY_AFTER_MS }
  return { ...outcome, kind: 'lagging', reason: 'not-reached', ...newest }
}
