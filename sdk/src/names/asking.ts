/** Requests answers, and repeats a request while that can help. */
import type { Clock } from '../platform/clock.ts'
import {
  type Answered,
  type BoundRead,
  type Bounds,
  isAnswered,
  type ReadOutcome,
  type Unanswered,
} from './bounded.ts'
import type { LookupOptions } from './lookup-types.ts'
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
