/**
 * The queue of each node, its requests in flight, and whether it fails.
 *
 * A dead or hung node costs only its vote: no read waits for it, and the requests sent to it per second are bounded.
 * A failing node is asked again by single probes. A lost or hung request never blocks the next one.
 */
import { backoffMs } from '@quorumscan/verifier'
import { judgeReply, type Reply, readRefusal } from '../answers/reply.ts'
import { send } from '../driver/decider-protocol.ts'
import { noteAnswer, noteError } from '../source/source.ts'
import type { TransportReply } from '../source/transport.ts'
import { isFailing, type Lane, lanesOf, type Node, noteHead, type Sent } from './node.ts'
import { type Channel, isWanted, PROBE, type RequestSpec, requestOf } from './request-spec.ts'
import { note, type State } from './voted-state.ts'

/** Requests in flight per node, of those sent within `LATE_MS`. A higher limit sends more to hung nodes. */
const FLIGHTS_MAX: Readonly<Record<Channel, number>> = { lookup: 4, bulk: 8 }
/** After this time a request does not count as in flight. */
const LATE_MS = 1000
/** After this time it is sent again, as it may be lost. The first may still be answered. */
const LOST_MS = 2500
/** Requests in flight to a failing node. */
const PROBES_MAX = 1
const BACKOFF = { minMs: 50, maxMs: 1000 }
const QUEUE_COMPACTED_AT = 32 // A longer queue drops requests whose items are decided.
/** The time until a node is asked again that refuses without `retry-after`. */
const RETRY_AFTER_MS = 1000

/** Whether the node would be sent another batch at once. */
export function hasRoomForLookups({ url, lanes }: Node): boolean {
  return url !== null && hasRoom(lanes.lookup)
}

function hasRoom(lane: Lane): boolean {
  const limit = isFailing(lane) ? PROBES_MAX : FLIGHTS_MAX[lane.channel]
  let count = 0
  for (const { isLate } of lane.flights) if (!isLate) count++
  return count < limit
}

/** Queues something for a node and sends it when there is room. */
export function enqueue(state: State, node: Node, spec: RequestSpec): void {
  const lane = node.lanes[spec.channel]
  // One probe is enough.
  if (spec === PROBE && lane.queue.includes(spec)) return
  lane.queue.push(spec)
  if (lane.queue.length > QUEUE_COMPACTED_AT)
    lane.queue = lane.queue.filter((queued) => isWanted(queued, node.index))
  pump(state, node)
}

/** Sends what can be sent. */
export function pump(state: State, node: Node): void {
  if (node.url === null || node.isInsecure) return
  const { nowMs: sentAtMs } = state
  for (const source of lanesOf(node)) {
    while (sentAtMs >= source.awayUntilMs && hasRoom(source)) {
      const spec = nextSpec(node, source)
      if (spec === undefined) break
      send(state, {
        source,
        spec,
        sentAtMs,
        lateAtMs: sentAtMs + LATE_MS,
        endsAtMs: sentAtMs + state.waitMs,
        isLate: false,
        abort: null,
        bytesWanted: requestOf(spec).bytesMax,
      })
    }
  }
}

function nextSpec(node: Node, lane: Lane): RequestSpec | undefined {
  for (let spec = lane.queue.shift(); spec !== undefined; spec = lane.queue.shift())
    if (isWanted(spec, node.index)) return spec
  return lane.channel === 'lookup' && isFailing(lane) ? PROBE : undefined
}

/** The first time, makes room for other requests. The second time, sends the request again while a caller waits. */
export function noteLate(state: State, flight: Sent): void {
  const { spec, source, sentAtMs } = flight
  const isLost = flight.isLate
  flight.isLate = true
  if (!isLost) flight.lateAtMs = sentAtMs + LOST_MS
  // A node that hangs is probed only while a caller waits.
  if (state.itemCount === 0) return
  if (isLost) enqueue(state, source.node, spec)
  else pump(state, source.node)
}

/** Notes that the node replied, and classifies the reply. */
export function noteReply(state: State, flight: Sent, reply: TransportReply): Reply {
  const { source: lane, sentAtMs } = flight
  const { node } = lane
  const { nowMs } = state
  lane.answeredAtMs = lane.endedAtMs = nowMs
  node.counters.latencyMsLast = nowMs - sentAtMs
  noteAnswer(lane, nowMs - sentAtMs)
  const judged = noteEnd(state, flight, judgeReply(reply))
  if (reply.status === 429)
    node.refusesUntilMs = nowMs + (readRefusal(reply).retryAfterMs ?? RETRY_AFTER_MS)
  if (judged.kind !== 'failed') noteHead(node, reply, nowMs)
  return judged
}

/** Notes that the connection failed or the request timed out. Returns null if it is sent again. */
export function noteLost(
  state: State,
  flight: Sent,
  { reason, isTimeout }: { readonly reason: string; readonly isTimeout: boolean },
): Reply | null {
  const { source: lane, spec, sentAtMs } = flight
  lane.endedAtMs = state.nowMs
  if (isTimeout) {
    // A node that answered later requests has lost this one, and does not fail.
    if (lane.answeredAtMs < sentAtMs) lane.failureCount = Math.max(2, lane.failureCount + 1)
  } else {
    lane.failureCount++
    // The node may just have closed a kept-alive connection: the request is sent again at once.
    if (lane.failureCount === 1 && isWanted(spec, lane.node.index)) {
      noteError(lane, 'connection lost')
      lane.queue.unshift(spec)
      return null
    }
    if (isFailing(lane)) lane.awayUntilMs = state.nowMs + backoffMs(lane.failureCount - 1, BACKOFF)
  }
  return noteEnd(state, flight, { kind: 'failed', reason })
}

/** Counts the end of a request. */
function noteEnd(state: State, { source, sentAtMs }: Sent, judged: Reply): Reply {
  if (judged.kind === 'failed') noteError(source, judged.reason)
  const { kind } = judged
  note(state, { node: source.node.name, kind, durationMs: state.nowMs - sentAtMs })
  return judged
}

/** Forgets failures, which are too old to count. */
export function resetFailures({ nodes }: State): void {
  for (const lane of nodes.flatMap(lanesOf)) {
    lane.failureCount = 0
    lane.awayUntilMs = 0
  }
}
