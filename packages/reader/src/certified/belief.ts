/** Whether an answer is to be believed at this moment, who has to be heard for that, and what else a read ends in. */
import { expectedMs, type Known } from '../source/source.ts'
import { HEDGE_FACTOR } from './decisions.ts'
import type { Asked, Ending, Read, ReaderState, Told } from './state.ts'

/** As long as a proxy waits (D-38): who is silent for so long counts as heard, and may still answer. */
const SILENT_MS = 2000

/** How many have to be asked at a time where an answer is suspiciously old. */
export function doubtedCount(state: ReaderState, read: Read, best: Told): number {
  const { decisions, faultyMax, floor } = state
  if (decisions.isBehind(best.point.offset, floor)) return 1
  const names = heard(state, read, true)
  const open = flightsOf(state, read).filter(({ isLate }) => !isLate)
  // Those who were asked already are among the names.
  return decisions.heardMin(faultyMax) - names.size + open.length
}

/** Whether the reader may believe that there is nothing newer to be had. */
export function isCredible(state: ReaderState, read: Read, best: Told): boolean {
  const { decisions, faultyMax, floor } = state
  if (!decisions.isSuspicious(ageOf(best, state))) return true
  if (decisions.isBehind(best.point.offset, floor)) return false
  // Without a node that may lie, each is believed.
  return faultyMax === 0 || heard(state, read, false).size >= decisions.heardMin(faultyMax)
}

/**
 * Distinct nodes that were asked since the read began, and have answered, failed, or been silent for long.
 *
 * @param isOpenCounted - All that were asked, whether they are silent yet or not.
 */
function heard(
  { decisions, sources }: ReaderState,
  { beganAtMs }: Read,
  isOpenCounted: boolean,
): ReadonlySet<string> {
  const names = new Set<string>()
  const isHeard = ({ sentAtMs, isSilent }: Asked) =>
    sentAtMs >= beganAtMs && (isOpenCounted || isSilent)
  for (const source of sources) {
    const name = decisions.identityOf(source)
    if (name === null) continue
    if (source.heardSentAtMs >= beganAtMs || [...source.flights].some(isHeard)) names.add(name)
  }
  return names
}

/** What a read ends in that has no answer to believe. */
export function undecided(state: ReaderState, read: Read): Ending {
  const { best, unproven } = read
  const { minOffset } = read.wanted
  const lagging = {
    kind: 'lagging',
    wantedOffset: Math.max(minOffset, read.floor),
    headOffset: best?.point.offset ?? (state.floor > 0 ? state.floor : null),
    ageMs: null,
  } as const
  if (best !== null) return { ...lagging, reason: 'stale', ageMs: ageOf(best, state) }
  if (read.isBehind) return { ...lagging, reason: minOffset > 0 ? 'floor' : 'not-reached' }
  if (read.isGone) return { ...lagging, reason: 'pruned' }
  const refusals = state.sources.map(({ refusesUntilMs }) => refusesUntilMs - state.nowMs)
  const retryAfterMs = Math.min(...refusals.filter((ms) => ms > 0))
  return {
    kind: 'insufficient',
    retryAfterMs: Number.isFinite(retryAfterMs) ? retryAfterMs : null,
    unproven,
  }
}

export function flightsOf({ sources }: ReaderState, read: Read): readonly Asked[] {
  return sources.flatMap(({ flights }) => [...flights].filter((flight) => flight.read === read))
}

/** So long after it was asked a node is silent. */
export function silentMs(source: Known): number {
  return Math.max(SILENT_MS, HEDGE_FACTOR * expectedMs(source))
}

function ageOf({ point }: Told, { nowMicros }: ReaderState): number {
  return (nowMicros - point.recordTime) / 1000
}
