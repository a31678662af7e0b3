/**
 * The connections to the nodes: what waits for each, what is in flight, who is failing.
 *
 * A node that is dead or hung costs nothing but its vote: nothing here waits for it, what is sent to it in
 * a second is bounded, and so it is asked again, by single probes once it is known to fail. No state ends
 * that: neither a request that is lost nor one that hangs keeps the next from being sent.
 */

import type { Reply } from '../answers/reply.ts'
import type { ReaderClock, ReaderOptions } from '../reader/reader-options.ts'
import {
  type Channel,
  type Flight,
  type Lane,
  type Link,
  noteError,
  noteHead,
  type Work,
} from './link.ts'
import type { Transport, TransportReply, TransportRequest } from './transport.ts'

/**
 * Requests in flight per node, of those that it was sent within `LATE_MS`. One that is too tight refuses
 * requests, one too wide feeds hung nodes.
 */
export const FLIGHTS_MAX: Readonly<Record<Channel, number>> = { lookup: 4, bulk: 8 }
/** From then on a request keeps no other from being sent. */
const LATE_MS = 1000
/** From then on it may be lost, and is sent once more; it may still be answered. */
const LOST_MS = 2500
/** What is sent for somebody who fails. */
const PROBES_MAX = 1
const BACKOFF_MS_MIN = 50
const BACKOFF_MS_MAX = 1000
const QUEUE_COMPACTED_AT = 32 // Works; decided ones are dropped from there on.
const LATENCY_WEIGHT = 1 / 16
/** Of a node that refuses and does not say for how long. */
const RETRY_AFTER_MS = 1000

export type Links = {
  readonly all: readonly Link[]
  /** Queues work for a node and sends it when there is room. */
  offer(link: Link, work: Work): void
  /** Sends what can be sent. */
  pump(link: Link): void
  hasRoom(link: Link, channel: Channel): boolean
  /** Ends what took too long, and sends again what may be lost. Returns whether anything is in flight. */
  sweep(): boolean
  /** Counts so long against no request: nobody here looked for answers. */
  excuse(ms: number): void
  /** Forgets failures: they are too old to count. */
  forgive(): void
  close(reason: unknown): void
}

export function createLinks(options: {
  readonly all: readonly Link[]
  readonly transport: Transport
  readonly clock: ReaderClock
  readonly flightMsMax: number
  /** Whether nodes are on public addresses only. */
  readonly isPublicOnly: boolean
  /** An empty batch, to learn whether a failing node is back. */
  readonly probe: Work
  readonly judge: (reply: TransportReply | Error, work: Work) => Reply
  /** Something is in flight, which has to be swept. */
  readonly onSend: () => void
  /** A node answered or failed: there may be room, or a new head. */
  readonly onChange: (link: Link) => void
  readonly onReply: ReaderOptions['onReply']
}): Links {
  const { clock, all } = options
  let closed: unknown

  const hasRoom = (lane: Lane, now: number): boolean => {
    const limit = lane.failureCount > 1 ? PROBES_MAX : FLIGHTS_MAX[lane.channel]
    let count = 0
    for (const { startedAtMs } of lane.flights) if (now - startedAtMs < LATE_MS) count++
    return count < limit
  }

  const pump = (link: Link): void => {
    if (link.url === null || closed !== undefined) return
    const now = clock.monotonicMs()
    for (const lane of [link.lanes.lookup, link.lanes.bulk]) {
      while (now >= lane.notBeforeMs && hasRoom(lane, now)) {
        const work = nextWork(link, lane)
        if (work === undefined) break
        send(link, lane, work)
      }
    }
  }

  const nextWork = (link: Link, lane: Lane): Work | undefined => {
    for (let work = lane.queue.shift(); work !== undefined; work = lane.queue.shift())
      if (work.isWanted(link)) return work
    return lane.channel === 'lookup' && lane.failureCount > 1 ? options.probe : undefined
  }

  const send = (link: Link, lane: Lane, work: Work): void => {
    const flight: Flight = {
      work,
      startedAtMs: clock.monotonicMs(),
      abort: new AbortController(),
      isSentAgain: false,
    }
    lane.flights.add(flight)
    options.onSend()
    link.counters.requests++
    const request: TransportRequest = {
      ...work.request(link),
      url: link.url as string, // `pump` sends nothing without one.
      channel: lane.channel,
      isPublicOnly: options.isPublicOnly,
      signal: flight.abort.signal,
    }
    // In a function of its own, so that a transport that throws at once is like one that rejects.
    const answer = async () => options.transport.request(request)
    answer().then(
      (reply) => land(link, lane, flight, reply),
      () => crash(link, lane, flight, new Error('unreachable')),
    )
  }

  const land = (link: Link, lane: Lane, flight: Flight, reply: TransportReply): void => {
    if (!lane.flights.delete(flight)) return
    const now = clock.monotonicMs()
    lane.answeredAtMs = now
    lane.endedAtMs = now
    lane.failureCount = 0
    lane.notBeforeMs = 0
    const latencyMs = now - flight.startedAtMs
    link.counters.latencyMsLast = latencyMs
    link.counters.latencyMs =
      (link.counters.latencyMs ?? latencyMs) * (1 - LATENCY_WEIGHT) + latencyMs * LATENCY_WEIGHT
    const judged = options.judge(reply, flight.work)
    if (reply.status === 429) link.refusesUntilMs = now + retryAfterMs(reply)
    if (judged.kind === 'failed') noteError(link, judged.reason)
    else noteHead(link, reply, now)
    options.onReply?.({ node: link.name, kind: judged.kind, durationMs: latencyMs })
    flight.work.receive(link, judged)
    options.onChange(link)
  }

  const crash = (link: Link, lane: Lane, flight: Flight, error: Error): void => {
    if (!lane.flights.delete(flight)) return
    lane.endedAtMs = clock.monotonicMs()
    lane.failureCount++
    // A connection that was kept open may just have been closed by the other side: once more, at once.
    if (lane.failureCount === 1 && flight.work.isWanted(link)) {
      noteError(link, 'connection lost')
      lane.queue.unshift(flight.work)
    } else {
      if (lane.failureCount > 1) backOff(lane)
      receiveError(link, flight, error)
    }
    options.onChange(link)
  }

  const backOff = (lane: Lane): void => {
    const exponent = Math.min(lane.failureCount - 2, 10)
    const backoffMs = Math.min(BACKOFF_MS_MAX, BACKOFF_MS_MIN * 2 ** exponent)
    lane.notBeforeMs = clock.monotonicMs() + backoffMs
  }

  const receiveError = (link: Link, flight: Flight, error: Error): void => {
    const judged = options.judge(error, flight.work)
    if (judged.kind === 'failed') noteError(link, judged.reason)
    const durationMs = clock.monotonicMs() - flight.startedAtMs
    options.onReply?.({ node: link.name, kind: judged.kind, durationMs })
    flight.work.receive(link, judged)
  }

  const offer = (link: Link, work: Work): void => {
    const lane = link.lanes[work.channel]
    // One probe tells as much as many.
    if (work === options.probe && lane.queue.includes(work)) return
    lane.queue.push(work)
    if (lane.queue.length > QUEUE_COMPACTED_AT)
      lane.queue = lane.queue.filter((queued) => queued.isWanted(link))
    pump(link)
  }

  const giveUp = (link: Link, lane: Lane, flight: Flight): void => {
    const error = new Error('no answer')
    lane.flights.delete(flight)
    lane.endedAtMs = clock.monotonicMs()
    flight.abort.abort(error)
    receiveError(link, flight, error)
  }

  const sweepLane = (link: Link, lane: Lane, now: number): void => {
    for (const flight of lane.flights) {
      const ageMs = now - flight.startedAtMs
      if (ageMs >= options.flightMsMax) {
        // Who answered others since has lost a request, and does not fail.
        if (lane.answeredAtMs < flight.startedAtMs)
          lane.failureCount = Math.max(2, lane.failureCount + 1)
        giveUp(link, lane, flight)
      } else if (ageMs >= LOST_MS && !flight.isSentAgain) {
        flight.isSentAgain = true
        offer(link, flight.work)
      }
    }
  }

  return {
    all,
    pump,
    offer,
    hasRoom: (link, channel) =>
      link.url !== null && hasRoom(link.lanes[channel], clock.monotonicMs()),
    sweep() {
      const now = clock.monotonicMs()
      let isBusy = false
      for (const link of all)
        for (const lane of [link.lanes.lookup, link.lanes.bulk]) {
          sweepLane(link, lane, now)
          isBusy ||= lane.flights.size > 0
        }
      return isBusy
    },
    excuse(ms) {
      for (const link of all)
        for (const lane of [link.lanes.lookup, link.lanes.bulk])
          for (const flight of lane.flights) flight.startedAtMs += ms
    },
    forgive() {
      for (const link of all)
        for (const lane of [link.lanes.lookup, link.lanes.bulk]) {
          lane.failureCount = 0
          lane.notBeforeMs = 0
        }
    },
    close(reason) {
      closed = reason
      for (const link of all)
        for (const lane of [link.lanes.lookup, link.lanes.bulk]) {
          for (const flight of lane.flights) flight.abort.abort(reason)
          lane.flights.clear()
          lane.queue = []
        }
    },
  }
}

function retryAfterMs(reply: TransportReply): number {
  const seconds = reply.header('retry-after') ?? ''
  return /^[0-9]{1,6}$/.test(seconds) ? Number(seconds) * 1000 : RETRY_AFTER_MS
}
