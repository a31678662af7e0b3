/**
 * Decides when requests start, and refuses requests above the capacity (D-33). Token buckets limit one client; the load
 * shedder limits all clients together.
 *
 * Requests wait in front of their handlers, where their clients take turns: one that sends many waits for itself. Peers and
 * other clients are served alternately, so that many addresses leave half of the process to peers. A turn of the event
 * loop starts requests for at most 10 ms, because Node accepts one connection in a turn: in long turns a new connection
 * waits for all earlier ones. One health probe goes first in each turn, so that a busy process does not look dead.
 *
 * While many requests of a client wait, its answered connections are parked: they are not read until few wait. An unread
 * request costs nothing; each garbage collection moves one that was read.
 *
 * A request that waited for too long is refused. So is a request that arrives while too much work is in progress. AIMD
 * finds the limit: it is halved after a handler reports that its work waited for too long, and grows by a batch each time
 * that the units of a whole limit were answered in time. Peers have larger limits. A request that waits for news, such
 * as a long poll, does not count as work while it waits. Clients share the queue, the work and these waits.
 *
 * A network has the work of a sixth of a second of its rate in progress; its other requests wait until some of it ends.
 * Otherwise a client that sends all requests of a second at once would delay others by their work.
 */
import { type Clock, createShares, createTurns, type Turns } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { Client } from './client.ts'
import type { Deadlines } from './deadlines.ts'

/** The time for handlers in one turn: enough that their requests to Redis and to nodes are sent together. */
const TURN_MS = 10
/** The time of turns that start nothing, while connections arrive: 4000 at once are accepted within a second. */
const ACCEPTING_MS = 40
/** A wait of fewer turns is not due to other requests: the process was suspended or did other work. */
const TURNS_OF_LOAD = 10
/** Requests that wait and were read. Connections of a client that has its share, 256 of a single one, are parked. */
const QUEUE_MAX = 1280
/** While so many requests wait, answered connections of clients that have one waiting are parked: a read request costs time. */
const QUEUE_FULL = 256
/** Parked connections are read again, one of each client in turn, while fewer requests than these wait. */
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
/** A client has as much as it leaves to others: work ends by itself, and a single one may read several of the largest pages. */
const WORK_SHARE = { shareOfFree: 1 }
/** Of the units that a client may spend in a second: 32 of 200. Others wait for so much work of one client. */
const NETWORK_SHARE_OF_SECOND = 0.16
/** A request whose work is known only when it was done counts as so much: all that a network has with 400 units per second or fewer. */
const UNITS_OF_UNKNOWN = 64
/** The limit grows while clients use more of their shares, or all together more than half of it. */
const MORE_WANTED_USAGE = 1 / 2
/** The time between two halvings: work that started before the first has ended by then. */
const HALVING_MS = 500
/** The limit of peers: requests of anonymous clients do not block a proxy. */
const PEER_UNITS_MAX = 2 * UNITS_MAX
/** Requests that wait for an event, such as an offset that is close ahead: a small object and a timer each. */
const WAITS_MAX = 12_000
/** Requests that were read and wait for room of their network: all that one sends in two seconds has room. */
const HELD_MAX = 4096

/** Shared instance: capturing a stack trace is half the cost of a refusal. */
const OVERLOADED = new ScanError('OVERLOADED', 'too many requests; try again in a moment', {
  retryAfterSeconds: 1,
})

/** Who shares the queue and the work with others. */
type Sender = Pick<Client, 'network' | 'isPeer'>

export type QueuedRequest = {
  readonly sender: Sender
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
/** A request in progress. */
export type Work = {
  /**
   * The request waits for an event, without work for the process, until the returned function is called.
   *
   * @throws {ScanError} OVERLOADED if too many requests wait so.
   */
  pause(): () => void
  /** The same for its network only: it remains work of all clients, which bounds what waits for other machines. */
  pauseOfNetwork(): () => void
  /** @param error - What the handler failed with. */
  end(error?: unknown): void
}

/** Of a request in progress. */
type Size = {
  /** Of the work of all clients. */
  readonly units: number
  /** Of the work of its network. */
  readonly ownUnits: number
}

type Waiting = {
  readonly request: QueuedRequest
  readonly arrivedMs: number
  readonly arrivedTurn: number
  readonly release: () => void
}

/** @param options.unitsPerSecond - The rate of a client; null for no limit. */
export function createLoadShedder(
  { monotonicMs }: Pick<Clock, 'monotonicMs'>,
  deadlines: Deadlines,
  { unitsPerSecond = null }: { readonly unitsPerSecond?: number | null } = {},
) {
  const queued = createShares('requests in the queue', { requests: QUEUE_MAX })
  const ofPeers = createTurns<Waiting>('requests in the queue')
  const ofOthers = createTurns<Waiting>('requests in the queue')
  const probes: Waiting[] = []
  const parked = createTurns<() => void>('requests in the queue')
  let isTurnOfPeers = true
  let turn = 0
  let isTurnDue = false
  let hasNewConnection = false
  /** Null while turns start requests. */
  let acceptingUntilMs: number | null = null
  let unitsMax = UNITS_AT_FIRST
  let halvedAtMs = Number.NEGATIVE_INFINITY
  const work = createShares('requests in progress', { units: () => unitsMax }, WORK_SHARE)
  /** Of the same work: peers have room when others have none. */
  const workForPeers = createShares('requests in progress', { units: PEER_UNITS_MAX }, WORK_SHARE)
  const waits = createShares('requests that wait for news', { requests: WAITS_MAX })
  const networkUnitsMax =
    unitsPerSecond === null ? Number.POSITIVE_INFINITY : NETWORK_SHARE_OF_SECOND * unitsPerSecond
  const ofNetworks = createShares(
    'requests in progress of a network',
    { units: networkUnitsMax },
    { bound: 'so many of each network' },
  )
  /** Those that wait until less work of their network is in progress. */
  const held = createTurns<() => void>('requests that wait for their network')
  const heldShares = createShares('requests that wait for their network', { requests: HELD_MAX })

  const waitingCount = () => ofPeers.size() + ofOthers.size()
  const runTurn = (): void => {
    const nowMs = monotonicMs()
    if (hasNewConnection) acceptingUntilMs ??= nowMs + ACCEPTING_MS
    const isAccepting = hasNewConnection && nowMs < (acceptingUntilMs ?? 0)
    hasNewConnection = false
    if (!isAccepting) {
      startSome(nowMs)
      resumeSome()
    }
    isTurnDue = waitingCount() + probes.length + parked.size() > 0
    if (isTurnDue) setImmediate(runTurn)
  }
  /** Few at a time: what is resumed arrives in the next turn of the event loop, and delays new connections. */
  const resumeSome = (): void => {
    for (let count = waitingCount(); count < QUEUE_REFILLED && parked.size() > 0; count++)
      parked.shift()?.()
  }
  const startSome = (nowMs: number): void => {
    acceptingUntilMs = null
    turn++
    start(probes.shift(), nowMs)
    while (waitingCount() > 0) {
      start(nextOf(isTurnOfPeers ? [ofPeers, ofOthers] : [ofOthers, ofPeers]), nowMs)
      isTurnOfPeers = !isTurnOfPeers
      if (monotonicMs() - nowMs >= TURN_MS) return
    }
  }
  const start = (waiting: Waiting | undefined, nowMs: number): void => {
    if (waiting === undefined) return
    const { request, arrivedMs, arrivedTurn, release } = waiting
    release()
    if (request.isGone()) return
    const { sender, isProbe } = request
    const waitedMs = turn - arrivedTurn > TURNS_OF_LOAD ? nowMs - arrivedMs : 0
    const isLate = waitedMs > (sender.isPeer ? PEER_WAIT_MS_MAX : WAIT_MS_MAX)
    request.start(!isProbe && (isLate || !hasRoom(sender)) ? OVERLOADED : null)
  }
  /** One request more may exceed the share: its size is not known before. */
  const hasRoom = ({ network, isPeer }: Sender): boolean =>
    (isPeer ? workForPeers : work).usageBy(network) < 1
  const hold = (owner: string, units: number): (() => void) => {
    const releases = [work, workForPeers].map((pool) => pool.hold(owner, { units }))
    return () => {
      for (const release of releases) release()
    }
  }
  const hasOwnRoom = (network: string) => ofNetworks.heldBy(network, 'units') < networkUnitsMax
  const startHeld = (network: string): void => {
    while (held.has(network) && hasOwnRoom(network)) held.shiftOf(network)?.()
  }

  const createWork = ({ network }: Sender, size: Size): Work => {
    const { units, ownUnits } = size
    const ofAll = createPausable(() => hold(network, units))
    const ofNetwork = createPausable(() => ofNetworks.hold(network, { units: ownUnits }))
    const pauseOfNetwork = () => {
      const resume = ofNetwork.pause()
      startHeld(network)
      return resume
    }
    return {
      pause() {
        const endWait = waits.take(network, { requests: 1 })
        if (endWait === null) throw OVERLOADED
        const resumes = [endWait, ofAll.pause(), pauseOfNetwork()]
        return () => {
          for (const resume of resumes) resume()
        }
      },
      pauseOfNetwork,
      end(error) {
        const isMoreWanted =
          2 * work.heldIn('units') > unitsMax || work.usageBy(network) > MORE_WANTED_USAGE
        ofAll.end()
        ofNetwork.end()
        const nowMs = monotonicMs()
        const isOverloaded = error instanceof ScanError && error.code === 'OVERLOADED'
        if (isOverloaded && nowMs - halvedAtMs >= HALVING_MS) {
          halvedAtMs = nowMs
          unitsMax = Math.max(UNITS_MIN, Math.min(unitsMax, work.heldIn('units')) / 2)
        } else if (!isOverloaded && isMoreWanted)
          unitsMax = Math.min(UNITS_MAX, unitsMax + (UNITS_MIN * units) / unitsMax)
        startHeld(network)
      },
    }
  }

  return {
    enqueue(request: QueuedRequest): void {
      const { sender, isProbe, unreadSinceMs } = request
      const waiting = {
        request,
        arrivedMs: unreadSinceMs ?? monotonicMs(),
        // It waited for other requests.
        arrivedTurn: unreadSinceMs === null ? turn : Number.NEGATIVE_INFINITY,
        release: isProbe ? () => {} : queued.hold(sender.network, { requests: 1 }),
      }
      if (isProbe) probes.push(waiting)
      else (sender.isPeer ? ofPeers : ofOthers).push(sender.network, waiting)
      if (isTurnDue) return
      isTurnDue = true
      setImmediate(runTurn)
    },
    /** A connection was accepted: others may wait to be accepted. */
    noteConnection(): void {
      hasNewConnection = true
    },
    /**
     * Whether an answered connection must not be read before `resume` is called.
     *
     * @param owner - The network of its client; `PROXIES` of one that serves many.
     */
    park(owner: string, resume: () => void): boolean {
      const hasWaiting = queued.heldBy(owner, 'requests') > 0
      const isFull = (hasWaiting && waitingCount() >= QUEUE_FULL) || queued.usageBy(owner) >= 1
      if (!isFull && !parked.has(owner)) return false
      parked.push(owner, resume)
      return true
    },
    /** @throws {ScanError} OVERLOADED if too much work is in progress. */
    assertRoom(sender: Sender): void {
      if (!hasRoom(sender)) throw OVERLOADED
    },
    /**
     * Work of this size begins, in units, when its network has room; at once if it has, and for peers.
     *
     * @param options.isUnknown - Whether it may be much more.
     * @param options.onGone - Calls the listener once the client has left.
     * @throws {ScanError} OVERLOADED if too many wait so; rejects with it if this one waited for too long, its client
     * has left, or there is no room any more.
     */
    begin(
      sender: Sender,
      units: number,
      { isUnknown = false, onGone = (_: () => void): void => {} } = {},
    ): Work | Promise<Work> {
      const { network, isPeer } = sender
      const size = { units, ownUnits: isUnknown ? Math.max(units, UNITS_OF_UNKNOWN) : units }
      if (isPeer || size.ownUnits === 0 || (hasOwnRoom(network) && !held.has(network)))
        return createWork(sender, size)
      const release = heldShares.take(network, { requests: 1 })
      if (release === null) throw OVERLOADED
      return new Promise((resolve, reject) => {
        const leave = () => {
          release()
          stopTimer()
        }
        const start = () => {
          leave()
          if (hasRoom(sender)) resolve(createWork(sender, size))
          else reject(OVERLOADED)
        }
        const giveUp = () => {
          if (!held.remove(network, start)) return
          leave()
          reject(OVERLOADED)
        }
        held.push(network, start)
        const stopTimer = deadlines.start(WAIT_MS_MAX, giveUp)
        onGone(giveUp)
      })
    },
  }
}

/** What is held, but for its pauses, until its end. */
function createPausable(hold: () => () => void) {
  let release = hold()
  let pauseCount = 0
  let isOver = false
  return {
    pause(): () => void {
      if (pauseCount === 0) release()
      pauseCount++
      return () => {
        pauseCount--
        if (pauseCount === 0 && !isOver) release = hold()
      }
    },
    end(): void {
      release()
      isOver = true
    },
  }
}

/** The next request: of the first queue that has one. */
function nextOf(queues: readonly Turns<Waiting>[]): Waiting | undefined {
  return queues.find((queue) => queue.size() > 0)?.shift()
}
