/**
 * Decides when requests start, and refuses requests above the capacity (D-33). Token buckets limit one client; the load
 * shedder limits all clients together.
 *
 * Requests wait in one queue in front of their handlers. A turn of the event loop starts requests for at most 10 ms,
 * because Node accepts one connection in a turn: in long turns a new connection waits for all earlier ones. One health
 * probe goes first in each turn, so that a busy process does not look dead.
 *
 * While many requests wait, an answered connection is parked: it is not read until few requests wait. An unread request
 * costs nothing; each garbage collection moves one that was read.
 *
 * A request that waited for too long is refused. So is a request that arrives while too much work is in progress. AIMD
 * finds the limit: it is halved after a handler reports that its work waited for too long, and grows by a batch each time
 * that the units of a whole limit were answered in time. Peers have larger limits. A request that waits for news, such
 * as a long poll, does not count as work while it waits.
 */
import type { Clock } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'

/** The time for handlers in one turn: enough that their requests to Redis and to nodes are sent together. */
const TURN_MS = 10
/** The time of turns that start nothing, while connections arrive: 4000 at once are accepted within a second. */
const ACCEPTING_MS = 40
/** A wait of fewer turns is not due to other requests: the process was suspended or did other work. */
const TURNS_OF_LOAD = 10
/** While this number of requests or more wait, connections are parked after an answer. */
const QUEUE_MAX = 256
/** Parked connections are read again, oldest first, while fewer requests than these wait. */
const QUEUE_REFILLED = 64
/** A quarter of a second less than a proxy waits for nodes (D-38), so that the refusal arrives in time. */
const WAIT_MS_MAX = 1750
/** A peer waits as long as a proxy waits for nodes. */
const PEER_WAIT_MS_MAX = 2000

/** Lookups that an idle machine answers within half a second. */
const UNITS_MAX = 4096
/** The limit at the start: twice what a proxy has in flight at its nodes. */
const UNITS_AT_FIRST = 2048
/** One full batch of lookups (D-14); also what the bound grows by. */
const UNITS_MIN = 256
/** The time between two halvings: work that started before the first has ended by then. */
const HALVING_MS = 500
/** The limit of peers: requests of anonymous clients do not block a proxy. */
const PEER_UNITS_MAX = 2 * UNITS_MAX

/** Shared instance: capturing a stack trace is half the cost of a refusal. */
const OVERLOADED = new ScanError('OVERLOADED', 'too many requests; try again in a moment', {
  retryAfterSeconds: 1,
})

export type QueuedRequest = {
  readonly isPeer: boolean
  /** A probe of health, which is never refused. */
  readonly isProbe: boolean
  /** Since when it waited unread, in a parked connection; null for another. */
  readonly unreadSinceMs: number | null
  /** Whether the client has left, and nothing needs to be done. */
  isGone(): boolean
  /** Called once, in this turn of the event loop or a later one, with the refusal if there is one. */
  start(refusal: ScanError | null): void
}

export type LoadShedder = ReturnType<typeof createLoadShedder>

type Waiting = {
  readonly request: QueuedRequest
  readonly arrivedMs: number
  readonly arrivedTurn: number
}

export function createLoadShedder({ monotonicMs }: Pick<Clock, 'monotonicMs'>) {
  // `shift` of an array of some thousands moves nothing: V8 trims its left end.
  const requests: Waiting[] = []
  const probes: Waiting[] = []
  const parked: (() => void)[] = []
  let turn = 0
  let isTurnDue = false
  let hasNewConnection = false
  /** Null while turns start requests. */
  let acceptingUntilMs: number | null = null
  let unitsInProgress = 0
  let unitsMax = UNITS_AT_FIRST
  let halvedAtMs = Number.NEGATIVE_INFINITY

  const runTurn = (): void => {
    const nowMs = monotonicMs()
    if (hasNewConnection) acceptingUntilMs ??= nowMs + ACCEPTING_MS
    const isAccepting = hasNewConnection && nowMs < (acceptingUntilMs ?? 0)
    hasNewConnection = false
    if (!isAccepting) {
      startSome(nowMs)
      for (let count = requests.length; count < QUEUE_REFILLED; count++) parked.shift()?.()
    }
    isTurnDue = requests.length + probes.length + parked.length > 0
    if (isTurnDue) setImmediate(runTurn)
  }
  const startSome = (nowMs: number): void => {
    acceptingUntilMs = null
    turn++
    start(probes.shift(), nowMs)
    while (requests.length > 0) {
      start(requests.shift(), nowMs)
      if (monotonicMs() - nowMs >= TURN_MS) return
    }
  }
  const start = (waiting: Waiting | undefined, nowMs: number): void => {
    if (waiting === undefined || waiting.request.isGone()) return
    const { request, arrivedMs, arrivedTurn } = waiting
    const waitedMs = turn - arrivedTurn > TURNS_OF_LOAD ? nowMs - arrivedMs : 0
    const isLate = waitedMs > (request.isPeer ? PEER_WAIT_MS_MAX : WAIT_MS_MAX)
    request.start(!request.isProbe && (isLate || !hasRoom(request)) ? OVERLOADED : null)
  }
  const hasRoom = ({ isPeer }: Pick<QueuedRequest, 'isPeer'>): boolean =>
    unitsInProgress < (isPeer ? PEER_UNITS_MAX : unitsMax)

  return {
    enqueue(request: QueuedRequest): void {
      const queue = request.isProbe ? probes : requests
      const { unreadSinceMs } = request
      queue.push({
        request,
        arrivedMs: unreadSinceMs ?? monotonicMs(),
        // It waited for other requests.
        arrivedTurn: unreadSinceMs === null ? turn : Number.NEGATIVE_INFINITY,
      })
      if (isTurnDue) return
      isTurnDue = true
      setImmediate(runTurn)
    },
    /** A connection was accepted: others may wait to be accepted. */
    noteConnection(): void {
      hasNewConnection = true
    },
    /** Whether an answered connection must not be read before `resume` is called. */
    park(resume: () => void): boolean {
      if (requests.length < QUEUE_MAX && parked.length === 0) return false
      parked.push(resume)
      return true
    },
    /** @throws {ScanError} OVERLOADED if too much work is in progress. */
    assertRoom(client: Pick<QueuedRequest, 'isPeer'>): void {
      if (!hasRoom(client)) throw OVERLOADED
    },
    begin(units: number): void {
      unitsInProgress += units
    },
    /** The request waits for an event, without work for the process, until `resume`. */
    pause(units: number): void {
      unitsInProgress -= units
    },
    resume(units: number): void {
      unitsInProgress += units
    },
    /** @param error - What the handler failed with. */
    end(units: number, error?: unknown): void {
      const isMoreWanted = 2 * unitsInProgress > unitsMax
      unitsInProgress -= units
      if (error instanceof ScanError && error.code === 'OVERLOADED') {
        const nowMs = monotonicMs()
        if (nowMs - halvedAtMs < HALVING_MS) return
        halvedAtMs = nowMs
        unitsMax = Math.max(UNITS_MIN, Math.min(unitsMax, unitsInProgress) / 2)
      } else if (isMoreWanted)
        unitsMax = Math.min(UNITS_MAX, unitsMax + (UNITS_MIN * units) / unitsMax)
    },
  }
}
