/**
 * The connections to the nodes: what waits for each, what is in flight, who is silent or failing.
 *
 * A node that is dead or hung costs nothing but its vote: nothing here waits for it, what is in
 * flight to it is bounded, and it is asked again by single probes until it answers.
 */
import type { ReaderClock, ReaderOptions } from './reader-options.ts'
import { parseOffsetText, type Reply } from './reply.ts'
import type { Transport, TransportReply, TransportRequest } from './transport.ts'

export type Channel = TransportRequest['channel']

/** Batches in flight per node. One that is too tight refuses requests, one too wide feeds hung nodes. */
export const FLIGHTS_MAX: Readonly<Record<Channel, number>> = { lookup: 4, bulk: 8 }
/** A node that owes an answer and said nothing for so long is asked one thing at a time. */
export const SILENCE_MS = 1000
const BACKOFF_MS_MIN = 50
const BACKOFF_MS_MAX = 1000
const QUEUE_COMPACTED_AT = 32 // Works; decided ones are dropped from there on.
const LATENCY_WEIGHT = 1 / 16

/** A request to one node for some items of the reader. */
export type Work = {
  readonly channel: Channel
  /** The offset that the nodes are asked for; null where they choose. */
  readonly atOffset: number | null
  /** Items asked for; the connection does not look into them. 0 is a probe. */
  readonly itemCount: number
  request(link: Link): Omit<TransportRequest, 'url' | 'signal' | 'channel' | 'isPublicOnly'>
  /** Whether any item still wants this node's vote. */
  isWanted(link: Link): boolean
  /** The node's answer, judged; called once a flight unless the flight is offered again. */
  receive(link: Link, reply: Reply): void
}

type Flight = { readonly work: Work; readonly startedAtMs: number; readonly abort: AbortController }

type Lane = {
  readonly channel: Channel
  queue: Work[]
  readonly flights: Set<Flight>
  /** Since when the node owes an answer without having given any; null while it owes none. */
  owingSinceMs: number | null
  /** When a request last ended, in whatever way. */
  endedAtMs: number
  /** Failures of the connection in a row. */
  failureCount: number
  notBeforeMs: number
}

export type Link = {
  /** Position among the connections: the voter. */
  readonly index: number
  readonly name: string
  url: string | null
  sequence: number | null
  /** Newest offset that the node claims to have, and when it said so. */
  head: number | null
  headAtMs: number
  readonly lanes: Readonly<Record<Channel, Lane>>
  requestCount: number
  errorCount: number
  lastError: string | null
  voteCount: number
  dissentCount: number
  latencyMs: number | null
  latencyMsLast: number | null
}

export type Links = {
  readonly all: readonly Link[]
  /** Queues work for a node and sends it when there is room. */
  offer(link: Link, work: Work): void
  /** Sends what can be sent. */
  pump(link: Link): void
  /** Whether the node, as far as is known, cannot answer now; a reason for a person, or null. */
  whyUnusable(link: Link, channel: Channel): string | null
  hasRoom(link: Link, channel: Channel): boolean
  /** Ends what took too long. Returns whether anything is in flight. */
  sweep(): boolean
  /** Forgets failures: they are too old to count. */
  forgive(): void
  close(reason: unknown): void
}

export function createLinks(options: {
  readonly nodes: readonly { readonly name: string }[]
  readonly transport: Transport
  readonly clock: ReaderClock
  readonly flightMsMax: number
  /** Whether nodes are on public addresses only. */
  readonly isPublicOnly: boolean
  /** An empty batch, to learn whether a failing node is back. */
  readonly probe: Work
  readonly judge: (reply: TransportReply | Error, work: Work) => Reply
  /** A node answered or failed: there may be room, or a new head. */
  readonly onChange: (link: Link) => void
  readonly onReply: ReaderOptions['onReply']
}): Links {
  const { clock } = options
  const all = options.nodes.map((node, index) => createLink(node.name, index))
  let closed: unknown

  const isSilent = (lane: Lane, now: number): boolean =>
    lane.owingSinceMs !== null && now - lane.owingSinceMs >= SILENCE_MS

  const limitOf = (lane: Lane, now: number): number =>
    lane.failureCount > 1 || isSilent(lane, now) ? 1 : FLIGHTS_MAX[lane.channel]

  const pump = (link: Link): void => {
    if (link.url === null || closed !== undefined) return
    const now = clock.monotonicMs()
    for (const lane of [link.lanes.lookup, link.lanes.bulk]) {
      while (now >= lane.notBeforeMs && lane.flights.size < limitOf(lane, now)) {
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
    }
    lane.flights.add(flight)
    lane.owingSinceMs ??= flight.startedAtMs
    link.requestCount++
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
    lane.owingSinceMs = lane.flights.size > 0 ? now : null
    lane.endedAtMs = now
    lane.failureCount = 0
    lane.notBeforeMs = 0
    const latencyMs = now - flight.startedAtMs
    link.latencyMsLast = latencyMs
    link.latencyMs =
      (link.latencyMs ?? latencyMs) * (1 - LATENCY_WEIGHT) + latencyMs * LATENCY_WEIGHT
    const judged = options.judge(reply, flight.work)
    if (judged.kind === 'failed') noteError(link, judged.reason)
    else noteHead(link, reply, now)
    options.onReply?.({ node: link.name, kind: judged.kind, durationMs: latencyMs })
    flight.work.receive(link, judged)
    options.onChange(link)
  }

  const crash = (link: Link, lane: Lane, flight: Flight, error: Error): void => {
    if (!lane.flights.delete(flight)) return
    lane.endedAtMs = clock.monotonicMs()
    if (lane.flights.size === 0) lane.owingSinceMs = null
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

  const giveUp = (link: Link, lane: Lane, flight: Flight): void => {
    const error = new Error('no answer')
    lane.flights.delete(flight)
    lane.endedAtMs = clock.monotonicMs()
    flight.abort.abort(error)
    receiveError(link, flight, error)
  }

  const sweepLane = (link: Link, lane: Lane, now: number): void => {
    if (isSilent(lane, now))
      for (const flight of [...lane.flights].slice(0, -1)) giveUp(link, lane, flight)
    for (const flight of lane.flights) {
      if (now - flight.startedAtMs < options.flightMsMax) continue
      lane.failureCount = Math.max(2, lane.failureCount + 1)
      backOff(lane)
      giveUp(link, lane, flight)
    }
  }

  return {
    all,
    pump,
    offer(link, work) {
      const lane = link.lanes[work.channel]
      // One probe tells as much as many.
      if (work === options.probe && lane.queue.includes(work)) return
      lane.queue.push(work)
      if (lane.queue.length > QUEUE_COMPACTED_AT)
        lane.queue = lane.queue.filter((queued) => queued.isWanted(link))
      pump(link)
    },
    whyUnusable(link, channel) {
      const lane = link.lanes[channel]
      if (lane.failureCount > 1) return link.lastError ?? 'unreachable'
      return isSilent(lane, clock.monotonicMs()) ? 'silent' : null
    },
    hasRoom(link, channel) {
      const lane = link.lanes[channel]
      return link.url !== null && lane.flights.size < FLIGHTS_MAX[channel]
    },
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
    forgive() {
      for (const link of all)
        for (const lane of [link.lanes.lookup, link.lanes.bulk]) {
          lane.failureCount = 0
          lane.notBeforeMs = 0
          lane.owingSinceMs = lane.flights.size > 0 ? clock.monotonicMs() : null
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

function createLink(name: string, index: number): Link {
  const lane = (channel: Channel): Lane => ({
    channel,
    queue: [],
    flights: new Set(),
    owingSinceMs: null,
    endedAtMs: Number.NEGATIVE_INFINITY,
    failureCount: 0,
    notBeforeMs: 0,
  })
  return {
    index,
    name,
    url: null,
    sequence: null,
    head: null,
    headAtMs: Number.NEGATIVE_INFINITY,
    lanes: { lookup: lane('lookup'), bulk: lane('bulk') },
    requestCount: 0,
    errorCount: 0,
    lastError: null,
    voteCount: 0,
    dissentCount: 0,
    latencyMs: null,
    latencyMsLast: null,
  }
}

/** Counts an answer that was none. */
export function noteError(link: Link, reason: string): void {
  link.errorCount++
  link.lastError = reason
}

function noteHead(link: Link, reply: TransportReply, now: number): void {
  const head = parseOffsetText(reply.header('x-ledger-head'))
  if (head === undefined) return
  link.head = head
  link.headAtMs = now
}
