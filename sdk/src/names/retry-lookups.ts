/** Asking again where waiting helps: the nodes lag, refuse because too much was asked of them, or were away. */
import type { Clock } from '../platform/clock.ts'
import type { BoundRead } from './bound-reads.ts'
import type { ReadOutcome } from './lookups.ts'

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
