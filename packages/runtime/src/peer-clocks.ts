/**
 * How the clock of this process lies to those of its peers: asks each for its own now and then, by the answer
 * that costs least. No signed statement holds a wall clock; this header is nobody's proof, only counted.
 */
import { anySignal, type ClientTls, type Clock } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { parseTime } from '@quorumscan/model'
import { isAuthenticated, parseNodeUrl } from '@quorumscan/reader'
import {
  CLOCK_TOLERANCE_MICROS,
  type ClockReading,
  type ClockVerdict,
  describeOffset,
  freshReadings,
  judgeClock,
  type Moment,
  offsetOf,
} from './clock-comparison.ts'
import type { Logger } from './logger.ts'
import type { Metrics } from './metrics.ts'
import { parseServiceUrl } from './service-url.ts'
import { createUndiciTransport } from './undici-transport.ts'

/** On the answer of `/livez`: the wall clock of who answers, µs since the epoch. */
export const CLOCK_HEADER = 'x-clock'
const HEAD_HEADER = 'x-ledger-head'
const HEAD_TIME_HEADER = 'x-ledger-head-time'
/** On the answer of `/readyz`: by how much the own clock is ahead of its peers', ms. */
export const OFFSET_HEADER = 'x-clock-offset-ms'
/** On the answer of `/readyz`: what an operator must know although the process does its work. */
export const DETAIL_HEADER = 'x-detail'
/** A peer whose clock is 2 s off is noticed in time before it is 10 s off by any drift. */
const ROUND_MS = 5000
/** While the clock is not known to be right: whatever waits for it goes on that soon. */
const ROUND_MS_UNEASY = 500
/** The reading is half of this off at most. */
const ANSWER_MS_MAX = 1000
/** `/livez` has no body. */
const ANSWER_BYTES_MAX = 4096
/** Replicas wait for entries that lie further ahead of their clock: whoever is so far off stands still, or soon will. */
const STANDSTILL_MICROS = 10_000_000
/** An idle log has an entry every 10 s: whose newest one is older misses some. */
const FOLLOWING_MICROS_MAX = 30_000_000
const MICROS_PER_SECOND = 1_000_000
const MS_PER_SECOND = 1000

/** A node, as the operator of this process names it. */
export type Peer = { readonly name: string; readonly url: string }

type Place = { readonly url: string; readonly isPublicOnly: boolean }

export type PeerClocks = AsyncDisposable & {
  /** The latest of each peer that has answered. */
  readings(): readonly ClockReading[]
  verdict(): ClockVerdict
  /** How many peers answered when they were asked last, and have the newest of the log. */
  followingCount(): number
  /**
   * Asks peers where the ledger says that they are, from now on; one that does not answer there, where the operator of
   * this process says (D-34).
   *
   * @param read - Called once a round. What it throws is tried again in the next one.
   */
  follow(read: () => Promise<readonly Peer[]>): void
  /** @throws {ScanError} CLOCK_OFF if enough peers say that the clock is so far off that the process stands still. */
  assertUsable(): void
}

/** Begins to ask at once. `needed` peers make a verdict: f + 1. */
export function createPeerClocks(options: {
  readonly peers: readonly Peer[]
  readonly needed: number
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  /** Which certificates of peers it takes. */
  readonly trust?: ClientTls | null
  /** Whether a peer may have moved to a private address although its configured one is public. Default: no. */
  readonly allowPrivateAddresses?: boolean
}): PeerClocks {
  const { peers, needed, clock, logger } = options
  const transport = createUndiciTransport({ trust: options.trust ?? null })
  const closing = new AbortController()
  const readingByPeer = new Map<string, ClockReading>()
  const following = new Set<string>()
  const beganMs = clock.monotonicMs()
  const answeredMsByPeer = new Map<string, number>()
  /** As the ledger says. */
  const urlByPeer = new Map<string, string>()
  /** By how much the log says that the clock is ahead; null while it says that it is right, or nothing. */
  let toldMicros: number | null = null

  const moment = (): Moment => ({
    wallMicros: clock.nowMicros(),
    monotonicMs: clock.monotonicMs(),
  })
  const readings = () => [...readingByPeer.values()]
  const verdict = () => judgeClock({ readings: readings(), now: moment(), needed })

  /** Where a peer may be, the likeliest place first. */
  const placesOf = ({ name, url }: Peer): readonly Place[] => {
    const configured = { url, isPublicOnly: false } // Peers are configured by the operator.
    const moved = urlByPeer.get(name)
    if (moved === undefined || moved === url) return [configured]
    // Of a private network peers move within it. Others could have this process ask what only it can reach.
    const allowPrivate =
      options.allowPrivateAddresses === true || parseNodeUrl(url, false) === undefined
    const isUsable = parseNodeUrl(moved, allowPrivate) !== undefined && isAuthenticated(moved)
    return isUsable ? [{ url: moved, isPublicOnly: !allowPrivate }, configured] : [configured]
  }

  const ask = async (peer: Peer): Promise<void> => {
    for (const place of placesOf(peer)) if (await askAt(peer.name, place)) return
    following.delete(peer.name)
  }

  /** Whether the peer answers there. */
  const askAt = async (name: string, place: Place): Promise<boolean> => {
    const over = new AbortController()
    const startedMs = clock.monotonicMs()
    clock.delay(ANSWER_MS_MAX, over.signal).then(
      () => over.abort(new Error('no answer')),
      () => {},
    )
    try {
      const reply = await transport.request({
        ...place,
        method: 'GET',
        path: '/livez',
        headers: {},
        body: null,
        bytesMax: ANSWER_BYTES_MAX,
        channel: 'lookup',
        signal: anySignal([over.signal, closing.signal]),
      })
      const endedMs = clock.monotonicMs()
      const wallMicros = integerOf(reply.header(CLOCK_HEADER))
      // One that took longer, because this process stood still, would be a guess.
      if (wallMicros === null || endedMs - startedMs > ANSWER_MS_MAX) return false
      answeredMsByPeer.set(name, endedMs)
      const atMs = (startedMs + endedMs) / 2
      readingByPeer.set(name, {
        peer: name,
        wallMicros,
        atMs,
        head: integerOf(reply.header(HEAD_HEADER)),
      })
      const headTime = parseTime(reply.header(HEAD_TIME_HEADER) ?? '')
      if (headTime !== undefined && wallMicros - headTime <= FOLLOWING_MICROS_MAX)
        following.add(name)
      else following.delete(name)
      return true
    } catch {
      return false // A peer that does not answer says nothing; its last reading soon is too old to count.
    } finally {
      over.abort()
    }
  }

  /** A line for each change: a clock that was off and is set to be off otherwise is news, too. */
  const tell = (now: ClockVerdict): void => {
    if (now.kind === 'off') {
      const isTold =
        toldMicros !== null && Math.abs(now.offsetMicros - toldMicros) <= CLOCK_TOLERANCE_MICROS
      if (isTold) return
      toldMicros = now.offsetMicros
      logger.warn(
        { offsetMs: now.offsetMicros / 1000 },
        `this clock is ${describeOffset(now.offsetMicros, `those of ${needed} peers or more`)}`,
      )
    } else if (now.kind === 'agrees' && toldMicros !== null) {
      toldMicros = null
      logger.info('this clock agrees with its peers again')
    }
  }

  let readAddresses: (() => Promise<readonly Peer[]>) | null = null
  let reading: Promise<void> | null = null
  /** Not waited for: the Redis of this process may hang. */
  const refreshAddresses = (): void => {
    if (readAddresses === null || reading !== null) return
    reading = readAddresses()
      .then(
        (found) => {
          for (const { name, url } of found) urlByPeer.set(name, url)
        },
        () => {}, // Read again in the next round.
      )
      .finally(() => {
        reading = null
      })
  }

  const run = async (): Promise<void> => {
    const { signal } = closing
    while (!signal.aborted && peers.length > 0) {
      refreshAddresses()
      await Promise.all(peers.map(ask))
      await waitForRound()
    }
  }
  /** Cut short by a clock that is set anew, which the readings from before already show. */
  const waitForRound = async (): Promise<void> => {
    for (let waitedMs = 0; waitedMs < ROUND_MS; waitedMs += ROUND_MS_UNEASY) {
      tell(verdict())
      await clock.delay(ROUND_MS_UNEASY, closing.signal).catch(() => {}) // Closing: the loop ends.
      if (closing.signal.aborted || verdict().kind !== 'agrees') return
    }
  }
  const running = run()

  options.metrics.sampled('gauge', {
    name: 'clock_offset_seconds',
    help: 'By how much the own clock is ahead of that of a peer, of those that answered of late.',
    labels: ['peer'],
    read: () => {
      const now = moment()
      return freshReadings(readings(), now).map(
        (reading) => [[reading.peer], offsetOf(reading, now) / MICROS_PER_SECOND] as const,
      )
    },
  })

  options.metrics.sampled('gauge', {
    name: 'node_silent_seconds',
    help: 'Time since a node last answered this process, which asks every 5 s; since its start for one that never did.',
    labels: ['node'],
    read: () => {
      const nowMs = clock.monotonicMs()
      return peers.map(({ name }) => {
        const sinceMs = answeredMsByPeer.get(name) ?? beganMs
        return [[name], (nowMs - sinceMs) / MS_PER_SECOND] as const
      })
    },
  })

  return {
    readings,
    verdict,
    follow(read) {
      readAddresses = read
    },
    followingCount: () => following.size,
    assertUsable() {
      const now = verdict()
      if (now.kind !== 'off' || Math.abs(now.offsetMicros) <= STANDSTILL_MICROS) return
      throw new ScanError(
        'CLOCK_OFF',
        `The clock of this process is ${describeOffset(now.offsetMicros, `those of ${needed} nodes or more`)}.`,
        { details: { offset_ms: now.offsetMicros / 1000 }, retryAfterSeconds: 1 },
      )
    },
    async [Symbol.asyncDispose]() {
      closing.abort(new Error('closed'))
      await running
      await transport[Symbol.asyncDispose]()
    },
  }
}

/** For `/status`: whole milliseconds by which the own clock is ahead; null while too few peers answer. */
export function clockOffsetMs(clocks: Pick<PeerClocks, 'verdict'>): number | null {
  const verdict = clocks.verdict()
  return verdict.kind === 'unknown' ? null : Math.round(verdict.offsetMicros / 1000)
}

/**
 * What the state of its replica means for a process, a `node` or a `validator`.
 *
 * @throws {ScanError} CLOCK_OFF, whatever the peers say of the clock; NOT_READY; what it stands still for.
 */
export function assertFollowing(
  what: string,
  replica: { state(): string; standstill(): ScanError | null },
): void {
  const state = replica.state()
  if (state === 'live') return
  const standstill = replica.standstill()
  if (standstill !== null) throw standstill
  const details = { details: { state }, retryAfterSeconds: 1 }
  if (state === 'clock-behind')
    throw new ScanError(
      'CLOCK_OFF',
      `The clock of this ${what} is behind the log's by more than ${STANDSTILL_MICROS / MICROS_PER_SECOND} s: it stands still.`,
      details,
    )
  throw new ScanError(
    'NOT_READY',
    `The replica of this ${what} is ${state.replaceAll('-', ' ')}.`,
    details,
  )
}

/**
 * Reads `name=url,name=url`.
 *
 * @throws {RangeError} That says what is no pair of a name and an address.
 */
export function parsePeers(text: string): readonly Peer[] {
  return text
    .split(',')
    .filter(Boolean)
    .map((pair) => {
      const at = pair.indexOf('=')
      if (at < 1) throw new RangeError(`${JSON.stringify(pair)} is no name=https://address`)
      return { name: pair.slice(0, at), url: parseServiceUrl(pair.slice(at + 1)) }
    })
}

function integerOf(text: string | null): number | null {
  return text !== null && /^[0-9]{1,16}$/.test(text) && Number.isSafeInteger(Number(text))
    ? Number(text)
    : null
}
