/** Whether an answer is to be believed at this moment, who has to be heard for that, and what else a read ends in. */
import { HEDGE_FACTOR } from './certified-decisions.ts'
import type { Ending, Flight, Now, Read, ReaderState, Told } from './reader-state.ts'
import { expectedMs, type Source } from './sources.ts'

/** As long as a proxy waits (D-38): who is silent for so long counts as heard, and may still answer. */
const SILENT_MS = 2000

export type Moment = { readonly state: ReaderState; readonly now: Now }

/** How many have to be asked at a time where an answer is suspiciously old. */
export function doubtedCount(moment: Moment, read: Read, best: Told): number {
  const { decisions, faultyMax, floor } = moment.state
  if (decisions.isBehind(best.point.offset, floor)) return 1
  const names = heard(moment, read, true)
  const open = flightsOf(moment, read).filter(({ isLate }) => !isLate)
  // Those who were asked already are among the names.
  return decisions.heardMin(faultyMax) - names.size + open.length
}

/** Whether the reader may believe that there is nothing newer to be had. */
export function isCredible(moment: Moment, read: Read, best: Told): boolean {
  const { decisions, faultyMax, floor } = moment.state
  if (!decisions.isSuspicious(ageOf(best, moment.now))) return true
  if (decisions.isBehind(best.point.offset, floor)) return false
  // Without a node that may lie, each is believed.
  return faultyMax === 0 || heard(moment, read, false).size >= decisions.heardMin(faultyMax)
}

/**
 * Distinct nodes that were asked since the read began, and have answered, failed, or been silent for long.
 *
 * @param isOpenCounted - Whoever was asked, whether it is silent yet or not.
 */
function heard({ state, now }: Moment, read: Read, isOpenCounted: boolean): ReadonlySet<string> {
  const names = new Set<string>()
  const add = (source: Source) => {
    const name = state.decisions.identityOf(source)
    if (name !== null) names.add(name)
  }
  for (const source of state.sources) if (source.heardSentAtMs >= read.beganAtMs) add(source)
  for (const { source, sentAtMs } of state.flights.values()) {
    const isSilent = now.ms - sentAtMs >= silentMs(source)
    if (sentAtMs >= read.beganAtMs && (isOpenCounted || isSilent)) add(source)
  }
  return names
}

/** What a read ends in that has no answer to believe. */
export function undecided({ state, now }: Moment, read: Read): Ending {
  const { best, minOffset } = read
  const lagging = {
    kind: 'lagging',
    wantedOffset: Math.max(minOffset, read.floor),
    headOffset: best?.point.offset ?? (state.floor > 0 ? state.floor : null),
    ageMs: null,
  } as const
  if (best !== null) return { ...lagging, reason: 'stale', ageMs: ageOf(best, now) }
  if (read.isBehind) return { ...lagging, reason: minOffset > 0 ? 'floor' : 'not-reached' }
  if (read.isGone) return { ...lagging, reason: 'pruned' }
  const refusals = state.sources.map(({ refusesUntilMs }) => refusesUntilMs - now.ms)
  const retryAfterMs = Math.min(...refusals.filter((ms) => ms > 0))
  const { unproven } = read
  return {
    kind: 'insufficient',
    retryAfterMs: Number.isFinite(retryAfterMs) ? retryAfterMs : null,
    unproven,
  }
}

export function flightsOf({ state }: Moment, read: Read): readonly Flight[] {
  return [...state.flights.values()].filter((flight) => flight.read === read)
}

/** From then on a node that was asked is silent. */
export function silentMs(source: Source): number {
  return Math.max(SILENT_MS, HEDGE_FACTOR * expectedMs(source))
}

function ageOf({ point }: Told, { micros }: Now): number {
  return (micros - point.recordTime) / 1000
}
