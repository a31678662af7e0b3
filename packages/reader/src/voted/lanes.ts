/**
 * What waits for each node, what is on its way, and who is failing.
 *
 * A node that is dead or hung costs nothing but its vote: nothing here waits for it, what is sent to it in
 * a second is bounded, and so it is asked again, by single probes once it is known to fail. No state ends
 * that: neither a request that is lost nor one that hangs keeps the next from being sent.
 */
import type { Reply } from '../answers/reply.ts'
import type { TransportReply } from '../source/transport.ts'
import { type Ask, type Channel, isWanted, PROBE, requestOf } from './ask.ts'
import { type Flight, isFailing, type Lane, type Node, noteError, noteHead } from './node.ts'
import type { State } from './state.ts'

/**
 * Requests in flight per node, of those that it was sent within `LATE_MS`. One that is too tight refuses
 * requests, one too wide feeds hung nodes.
 */
const FLIGHTS_MAX: Readonly<Record<Channel, number>> = { lookup: 4, bulk: 8 }
/** From then on a request keeps no other from being sent. */
const LATE_MS = 1000
/** From then on it may be lost, and is sent once more; it may still be answered. */
const LOST_MS = 2500
/** What is sent for somebody who fails. */
const PROBES_MAX = 1
const BACKOFF_MS_MIN = 50
const BACKOFF_MS_MAX = 1000
const QUEUE_COMPACTED_AT = 32 // Asks; decided ones are dropped from there on.
const LATENCY_WEIGHT = 1 / 16
/** Of a node that refuses and does not say for how long. */
const RETRY_AFTER_MS = 1000

export function lanesOf({ lanes }: Node): readonly Lane[] {
  return [lanes.lookup, lanes.bulk]
}

/** Whether the node would be sent another batch at once. */
export function hasRoomForLookups({ nowMs }: State, { url, lanes }: Node): boolean {
  return url !== null && hasRoom(lanes.lookup, nowMs)
}

function hasRoom(lane: Lane, nowMs: number): boolean {
  const limit = isFailing(lane) ? PROBES_MAX : FLIGHTS_MAX[lane.channel]
  let count = 0
  for (const { startedAtMs } of lane.flights) if (nowMs - startedAtMs < LATE_MS) count++
  return count < limit
}

/** Queues something for a node and sends it when there is room. */
export function offer(state: State, node: Node, ask: Ask): void {
  const lane = node.lanes[ask.channel]
  // One probe tells as much as many.
  if (ask === PROBE && lane.queue.includes(ask)) return
  lane.queue.push(ask)
  if (lane.queue.length > QUEUE_COMPACTED_AT)
    lane.queue = lane.queue.filter((queued) => isWanted(queued, node.index))
  pump(state, node)
}

/** Sends what can be sent. */
export function pump(state: State, node: Node): void {
  if (node.url === null || node.isInsecure) return
  for (const lane of lanesOf(node)) {
    while (state.nowMs >= lane.notBeforeMs && hasRoom(lane, state.nowMs)) {
      const ask = nextAsk(node, lane)
      if (ask === undefined) break
      send(state, { node, lane, ask, url: node.url })
    }
  }
}

function nextAsk(node: Node, lane: Lane): Ask | undefined {
  for (let ask = lane.queue.shift(); ask !== undefined; ask = lane.queue.shift())
    if (isWanted(ask, node.index)) return ask
  return lane.channel === 'lookup' && isFailing(lane) ? PROBE : undefined
}

function send(
  state: State,
  { url, ...to }: Pick<Flight, 'node' | 'lane' | 'ask'> & { readonly url: string },
): void {
  const { node, lane, ask } = to
  const id = ++state.flightCount
  const flight: Flight = { id, ...to, startedAtMs: state.nowMs, isSentAgain: false }
  lane.flights.add(flight)
  state.flights.set(id, flight)
  node.counters.requests++
  const request = requestOf(ask)
  state.effects.push({ kind: 'send', flight: id, url, channel: lane.channel, request })
}

/** Takes over that the node answered, whatever it says. */
export function land(state: State, flight: Flight, reply: TransportReply): Reply {
  const { node, lane } = flight
  const { nowMs } = state
  end(state, flight)
  lane.answeredAtMs = nowMs
  lane.failureCount = 0
  lane.notBeforeMs = 0
  const latencyMs = nowMs - flight.startedAtMs
  const { counters } = node
  counters.latencyMsLast = latencyMs
  counters.latencyMs =
    (counters.latencyMs ?? latencyMs) * (1 - LATENCY_WEIGHT) + latencyMs * LATENCY_WEIGHT
  const judged = judge(state, flight, reply)
  if (reply.status === 429) node.refusesUntilMs = nowMs + retryAfterMs(reply)
  if (judged.kind !== 'failed') noteHead(node, reply, nowMs)
  return judged
}

/** Takes over that the connection failed. Null where it is tried once more. */
export function crash(state: State, flight: Flight, reason = 'unreachable'): Reply | null {
  const { node, lane, ask } = flight
  end(state, flight)
  lane.failureCount++
  // A connection that was kept open may just have been closed by the other side: once more, at once.
  if (lane.failureCount === 1 && isWanted(ask, node.index)) {
    noteError(node, 'connection lost')
    lane.queue.unshift(ask)
    return null
  }
  if (isFailing(lane)) backOff(lane, state.nowMs)
  return judge(state, flight, new Error(reason))
}

function backOff(lane: Lane, nowMs: number): void {
  const exponent = Math.min(lane.failureCount - 2, 10)
  lane.notBeforeMs = nowMs + Math.min(BACKOFF_MS_MAX, BACKOFF_MS_MIN * 2 ** exponent)
}

function end(state: State, flight: Flight): void {
  state.flights.delete(flight.id)
  flight.lane.flights.delete(flight)
  flight.lane.endedAtMs = state.nowMs
}

/** What the end of a request amounts to, counted. */
function judge(state: State, flight: Flight, ended: TransportReply | Error): Reply {
  const { node, ask } = flight
  const asked = { atOffset: ask.atOffset, itemCount: ask.items.length }
  const judged = state.decisions.judgeReply(ended, asked)
  if (judged.kind === 'failed') noteError(node, judged.reason)
  const durationMs = state.nowMs - flight.startedAtMs
  const reply = { node: node.name, kind: judged.kind, durationMs }
  state.effects.push({ kind: 'heard', reply })
  return judged
}

/**
 * Ends what took too long, and sends again what may be lost, as long as anybody reads: nodes that hang are not
 * probed for ever. Returns what ended, as what it amounts to.
 */
export function sweepFlights(state: State): { readonly flight: Flight; readonly judged: Reply }[] {
  const ended: { flight: Flight; judged: Reply }[] = []
  for (const flight of [...state.flights.values()]) {
    const { node, lane } = flight
    const ageMs = state.nowMs - flight.startedAtMs
    if (ageMs >= state.waitMs) {
      // Who answered others since has lost a request, and does not fail.
      if (lane.answeredAtMs < flight.startedAtMs)
        lane.failureCount = Math.max(2, lane.failureCount + 1)
      end(state, flight)
      state.effects.push({ kind: 'drop', flight: flight.id })
      ended.push({ flight, judged: judge(state, flight, new Error('no answer')) })
    } else if (ageMs >= LOST_MS && !flight.isSentAgain && state.items.size > 0) {
      flight.isSentAgain = true
      offer(state, node, flight.ask)
    }
  }
  return ended
}

/** Forgets failures: they are too old to count. */
export function forgive({ nodes }: State): void {
  for (const lane of nodes.flatMap(lanesOf)) {
    lane.failureCount = 0
    lane.notBeforeMs = 0
  }
}

function retryAfterMs(reply: TransportReply): number {
  const seconds = reply.header('retry-after') ?? ''
  return /^[0-9]{1,6}$/.test(seconds) ? Number(seconds) * 1000 : RETRY_AFTER_MS
}
