/** How answers are asked for: again where waiting helps, and pages after the one before. */
import { type CertifiedReadOptions, requestOfEntriesPage } from '@quorumscan/reader/certified'
import { type CertifiedPage, formatPageToken, sha256 } from '@quorumscan/verifier/certified'
import type { Clock } from '../platform/clock.ts'
import type { BoundRead, Bounds } from './bounded.ts'
import {
  type Answered,
  type EntriesPage,
  isAnswered,
  type LookupOptions,
  type ReadOutcome,
  type Unanswered,
} from './lookups.ts'
import type { OpenedReader } from './open-reader.ts'
import { outcomeError } from './outcome-error.ts'

/** Nodes that lag have usually caught up by then. */
const LAGGING_RETRIES_MAX = 2
/** Nodes that were away for a moment, as under a load that starves them, are back by then. */
const AWAY_PAUSES_MS = [250, 500, 1000, 2000]
/** Whoever asks to wait for less is asked again no sooner. */
const WAIT_MS_MIN = 250

/**
 * Resolves with the outcomes as soon as none is worth waiting for, or none that the deadline leaves time
 * for: to wait beyond it would make a timeout, which says nothing, of what is known.
 *
 * @param bounds.outcomes - What the first question ended in. Default: it is asked here.
 */
export async function retryLookups<Answer>(
  ask: () => Promise<ReadOutcome<Answer>[]>,
  bounds: {
    readonly clock: Clock
    readonly read: Pick<BoundRead, 'signal' | 'endsAtMs'>
    readonly outcomes?: ReadOutcome<Answer>[]
  },
): Promise<ReadOutcome<Answer>[]> {
  const { clock, read } = bounds
  let outcomes = bounds.outcomes ?? (await ask())
  for (let laggingCount = 0, awayCount = 0; ; outcomes = await ask()) {
    const isAway = outcomes.some(({ kind }) => kind === 'insufficient')
    const askedMs =
      outcomes.map(retryAfterMs).find((ms) => ms !== null) ??
      (isAway ? AWAY_PAUSES_MS[awayCount++] : undefined)
    const isLagging = outcomes.some(({ kind }) => kind === 'lagging')
    if (isLagging && ++laggingCount > LAGGING_RETRIES_MAX) return outcomes
    if (askedMs === undefined) return outcomes
    const waitMs = Math.max(askedMs, WAIT_MS_MIN)
    if (clock.monotonicMs() + waitMs >= read.endsAtMs) return outcomes
    await clock.delay(waitMs, read.signal)
  }
}

function retryAfterMs(outcome: ReadOutcome): number | null {
  return 'retryAfterMs' in outcome ? outcome.retryAfterMs : null
}

/**
 * The answer to one question, asked within a deadline.
 *
 * @throws {QuorumscanError} Where the outcome is no answer.
 */
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

/** @throws {QuorumscanError} Where the one outcome is no answer. */
export function decided<Answer>(
  what: string,
  [outcome]: readonly ReadOutcome<Answer>[],
): Answered<Answer> {
  if (outcome !== undefined && isAnswered(outcome)) return outcome
  throw outcomeError(what, outcome as Unanswered)
}

const RETRY_AFTER_MS = 250

/** A page; of a walk that has outlived what nodes keep, the one after its last name at a newer offset. */
export async function readEntriesPage(
  { reader, options }: OpenedReader,
  page: EntriesPage,
  read: CertifiedReadOptions,
): Promise<ReadOutcome<CertifiedPage>> {
  const { subject, after } = page
  let outcome = await reader.read(requestOfEntriesPage(page), read)
  if (outcome.kind === 'expired' && after !== null) {
    const first = await reader.read(
      requestOfEntriesPage({ subject, pageSize: 1, pageToken: null }),
      read,
    )
    if (!('answer' in first)) outcome = first
    else {
      const network = { ...options, sha256: options.sha256 ?? sha256 }
      const pageToken = formatPageToken(network, subject, { after, offset: first.offset })
      outcome = await reader.read(requestOfEntriesPage({ ...page, pageToken }), read)
    }
  }
  if (outcome.kind !== 'expired') return outcome
  const newest = { wantedOffset: 0, headOffset: null, ageMs: null, retryAfterMs: RETRY_AFTER_MS }
  return { ...outcome, kind: 'lagging', reason: 'not-reached', ...newest }
}
