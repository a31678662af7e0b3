/**
 * Whether a proven answer is recent enough, how many nodes must be consulted before it is, and with what reason a
 * read ends without an answer (`undecided`). A node is *consulted* once it has answered, failed,
 * or been silent for 2 s.
 */
import { isBelowOffset } from '@quorumscan/verifier/certified'
import { expectedMs, HEDGE_FACTOR, type NodeObservations } from '../source/source.ts'
import type {
  CheckedAnswer,
  Ending,
  Read,
  ReaderState,
  RequestInFlight,
} from './certified-state.ts'

/** A node that has not answered for this long counts as consulted. It may still answer. A proxy waits as long (D-38). */
const CONSULTED_AFTER_MS = 2000
/** Checkpoints are at most ten seconds apart: an older state is held back, or ordering stalls. */
const SUSPICIOUS_AGE_MS = 12_000

/** How many nodes to ask at a time while the best answer is suspiciously old. */
export function requestsWhileSuspicious(
  state: ReaderState,
  read: Read,
  best: CheckedAnswer,
): number {
  if (isBelowOffset(best.point.offset, state.floor)) return 1
  const names = consulted(state, read, true)
  const open = flightsOf(state, read).filter(({ isLate }) => !isLate)
  // Nodes that were asked already are among the names.
  return state.faultyMax + 1 - names.size + open.length
}

/**
 * Whether the reader may believe that no newer state exists. If the clock of the device is proven to be wrong, the age of
 * an answer does not show that it is recent: only f + 1 nodes do.
 */
export function isCredible(state: ReaderState, read: Read, best: CheckedAnswer): boolean {
  const { faultyMax, floor, clockSkewMs } = state
  if (clockSkewMs === null && ageOf(best, state) <= SUSPICIOUS_AGE_MS) return true
  if (isBelowOffset(best.point.offset, floor)) return false
  // Of f + 1 distinct nodes, one is honest. With f = 0 each node is believed.
  return faultyMax === 0 || consulted(state, read, false).size > faultyMax
}

/**
 * Distinct nodes that were asked since the read began, and have answered, failed, or been silent for long. Only a node
 * that signed its address has a name: two unsigned addresses may be one server.
 *
 * @param isOpenCounted - Whether nodes with an open request count as well.
 */
function consulted(
  { sources }: ReaderState,
  { beganAtMs }: Read,
  isOpenCounted: boolean,
): ReadonlySet<string> {
  const names = new Set<string>()
  const isConsulted = ({ sentAtMs, isSilent }: RequestInFlight) =>
    sentAtMs >= beganAtMs && (isOpenCounted || isSilent)
  for (const source of sources) {
    const { name } = source
    if (name === null) continue
    if (source.newestEndedSentAtMs >= beganAtMs || source.flights.some(isConsulted)) names.add(name)
  }
  return names
}

/**
 * How a read ends that has no answer to believe; the first that holds:
 * - `lagging`, `stale`: a proven answer came. It is older than `maxAge` or than the floor, or it is suspiciously old and
 *   too few nodes were consulted.
 * - `lagging`, `floor`: nodes have not reached the floor of the call (`minOffset`); `not-reached`: they have no
 *   certificate that reaches the verified floor of the reader.
 * - `lagging`, `pruned`: the walk's offset is no longer certified (`pruned` for the caller).
 * - `insufficient`: no node sent a valid proof. `unproven` says what was wrong with the last certificate that was
 *   not accepted; null if nodes sent errors only.
 */
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
  if (read.sawLaggingNode) return { ...lagging, reason: minOffset > 0 ? 'floor' : 'not-reached' }
  if (read.sawPruned) return { ...lagging, reason: 'pruned' }
  const refusals = state.sources.map(({ refusesUntilMs }) => refusesUntilMs - state.nowMs)
  const retryAfterMs = Math.min(...refusals.filter((ms) => ms > 0))
  return {
    kind: 'insufficient',
    retryAfterMs: Number.isFinite(retryAfterMs) ? retryAfterMs : null,
    unproven,
  }
}

export function flightsOf({ sources }: ReaderState, read: Read): readonly RequestInFlight[] {
  return sources.flatMap(({ flights }) => flights.filter((flight) => flight.read === read))
}

/** How long after a request a node is silent. */
export function silentMs(source: NodeObservations): number {
  return Math.max(CONSULTED_AFTER_MS, HEDGE_FACTOR * expectedMs(source))
}

function ageOf({ point }: CheckedAnswer, { nowMicros }: ReaderState): number {
  return (nowMicros - point.recordTime) / 1000
}
