/**
 * Compares the clock of this process with those of its peers: asks each periodically, by the cheapest route. No peer
 * signs its clock, so a reading proves nothing; enough equal readings count.
 */
import type { ClientTls, Clock } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { parseTime } from '@quorumscan/model'
import {
  CLOCK_TOLERANCE_MICROS,
  type ClockComparison,
  type ClockReading,
  compareClock,
  describeClockSkew,
  freshReadings,
  type Moment,
  skewOf,
} from './clock-comparison.ts'
import type { Logger } from './logger.ts'
import type { Metrics } from './metrics.ts'
import { createPeerAddresses, type Peer, type PeerEndpoint } from './peer-addresses.ts'
import { createPeerClient } from './peer-client.ts'
import { MEMORY_HEADER } from './redis-memory.ts'
import { type PeerPoll, pollPeers } from './repeat.ts'

/** On the answer of `/livez`: the wall clock of the process, µs since the epoch. */
export const CLOCK_HEADER = 'x-clock'
/** On the answer of `/livez`: the state of the process, as in `/status`. */
export const STATE_HEADER = 'x-state'
const HEAD_HEADER = 'x-ledger-head'
const HEAD_TIME_HEADER = 'x-ledger-head-time'
/** On the answer of `/readyz`: the clock skew of this process, in ms by which it is ahead of its peers. */
export const CLOCK_SKEW_HEADER = 'x-clock-offset-ms'
/** On the answer of `/readyz`: what an operator must know although the process does its work. */
export const DETAIL_HEADER = 'x-detail'
/** Often enough to notice a skew of 2 s before drift makes it 10 s. */
const READ_MS = 5000
/** While the clock is not known to be right, so that waiting work continues soon. */
const READ_MS_OFF = 500
/** How long after its start a process asks as often for peers that have reported no head: they start at the same time. */
const STARTING_MS = 15_000
/** The error of a reading is at most half of this. */
const ANSWER_MS_MAX = 1000
/** `/livez` has no body. */
const ANSWER_BYTES_MAX = 4096
/** Replicas wait for entries that are further ahead of their clock: a process with such a skew stalls. */
export const STALLED_MICROS = 10_000_000
/** An idle log has an entry at least every 10 s: a process with an older newest entry misses some. */
export const FOLLOWING_MICROS_MAX = 30_000_000
/** States of a peer that answers lookups and follows the log; its head says how far. null: an older release, which says none. */
const WORKING_STATES: readonly (string | null)[] = ['live', 'catching-up', null]
const MICROS_PER_SECOND = 1_000_000
const MS_PER_SECOND = 1000

/** What a peer says about itself; it proves nothing. `behind`: it says no head, or an old one. */
export type PeerState = 'silent' | 'behind' | 'following'

export type PeerClocks = ReturnType<typeof createPeerClocks>

/** Asks at once. A verdict needs `needed` peers: f + 1. */
export function createPeerClocks(options: {
  readonly peers: readonly Peer[]
  readonly needed: number
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  /** The certificates of peers that it trusts. */
  readonly trust?: ClientTls | null
  /** Whether a peer may have moved to a private address although its configured one is public. Default: no. */
  readonly allowPrivateAddresses?: boolean
}) {
  const { peers, needed, clock } = options
  const client = createPeerClient({ clock, trust: options.trust ?? null })
  const addresses = createPeerAddresses(options.allowPrivateAddresses === true)
  const report = createVerdictLog(needed, options.logger)
  const startedMs = clock.monotonicMs()
  const moment = (): Moment => ({ wallMicros: clock.nowMicros(), monotonicMs: clock.monotonicMs() })
  const readingsIn = (latest: Latest) => [...latest.values()].map(({ value }) => value.reading)
  const verdictOf = (latest: Latest) =>
    compareClock({ readings: readingsIn(latest), now: moment(), needed })

  const readAt = async (
    { url, isPublicOnly }: PeerEndpoint,
    { peer, signal }: { readonly peer: string; readonly signal: AbortSignal },
  ): Promise<Answer> => {
    const startedMs = clock.monotonicMs()
    const bounds = { bytesMax: ANSWER_BYTES_MAX, timeoutMs: ANSWER_MS_MAX, signal }
    const reply = await client.request(url, { path: '/livez', isPublicOnly, ...bounds })
    const endedMs = clock.monotonicMs()
    const wallMicros = integerOf(reply.header(CLOCK_HEADER))
    // If this process stalled meanwhile, the reading would be a guess.
    if (wallMicros === null || endedMs - startedMs > ANSWER_MS_MAX) throw new Error('no reading')
    const head = integerOf(reply.header(HEAD_HEADER))
    const headTime = parseTime(reply.header(HEAD_TIME_HEADER) ?? '')
    const isRecent = headTime !== undefined && wallMicros - headTime <= FOLLOWING_MICROS_MAX
    const isFollowing = isRecent && WORKING_STATES.includes(reply.header(STATE_HEADER))
    const thousandths = integerOf(reply.header(MEMORY_HEADER))
    return {
      reading: { peer, wallMicros, atMs: (startedMs + endedMs) / 2, head },
      isFollowing,
      memoryShare: thousandths === null ? null : thousandths / 1000,
    }
  }

  const isStarting = (latest: Latest): boolean =>
    clock.monotonicMs() - startedMs < STARTING_MS &&
    peers.some(({ name }) => (latest.get(name)?.value.reading.head ?? null) === null)

  const poll = pollPeers<Answer>({
    peers,
    clock,
    everyMs: READ_MS_OFF,
    /** A round is due at once after the clock was set, because earlier readings already show that. */
    isDue(sinceMs, latest) {
      const verdict = verdictOf(latest)
      report(verdict)
      const isUrgent = verdict.kind !== 'agrees' || isStarting(latest)
      const isDue = peers.length > 0 && (isUrgent || sinceMs >= READ_MS)
      if (isDue) addresses.refresh()
      return isDue
    },
    async read(peer, signal) {
      let failure: unknown
      for (const endpoint of addresses.endpointsOf(peer))
        try {
          return await readAt(endpoint, { peer: peer.name, signal })
        } catch (error) {
          failure = error
        }
      throw failure
    },
  })
  options.metrics.sampled('gauge', {
    name: 'clock_offset_seconds',
    help: 'By how much the local clock is ahead of that of a peer, for peers that answered recently.',
    labels: ['peer'],
    read: () => {
      const now = moment()
      return freshReadings(readingsIn(poll.latest), now).map(
        (reading) => [[reading.peer], skewOf(reading, now) / MICROS_PER_SECOND] as const,
      )
    },
  })
  options.metrics.sampled('gauge', {
    name: 'node_silent_seconds',
    help: 'Time since a node last answered this process, which asks every 5 s; since its start for one that never did.',
    labels: ['node'],
    read: () =>
      peers.map(({ name }) => {
        const sinceMs = poll.latest.get(name)?.atMs ?? startedMs
        return [[name], (clock.monotonicMs() - sinceMs) / MS_PER_SECOND] as const
      }),
  })

  /** The skew of this clock, if the process stalls with it. */
  const stallingSkew = (): number | null => {
    const now = verdictOf(poll.latest)
    return now.kind === 'off' && Math.abs(now.skewMicros) > STALLED_MICROS ? now.skewMicros : null
  }

  return {
    /** The latest of each peer that has answered. */
    readings: (): readonly ClockReading[] => readingsIn(poll.latest),
    /** How much of the memory of their Redis the peers say to use, of those that answered in the last round. */
    memoryShares: (): readonly number[] =>
      [...poll.latest.values()].flatMap(({ value, isCurrent }) =>
        isCurrent && value.memoryShare !== null ? [value.memoryShare] : [],
      ),
    verdict: (): ClockComparison => verdictOf(poll.latest),
    /**
     * From now on, asks peers at their addresses on the ledger; a peer that does not answer there, at the address that
     * the operator of this process configured (D-34).
     *
     * @param read - Called once a round. After an error it is called again in the next round.
     */
    follow: (read: () => Promise<readonly Peer[]>): void => addresses.follow(read),
    endpointsOf: addresses.endpointsOf,
    /** Whether a peer answered in the last round, and what it said about its head. */
    answerOf(name: string): PeerState {
      const last = poll.latest.get(name)
      if (last === undefined || !last.isCurrent) return 'silent'
      return last.value.isFollowing ? 'following' : 'behind'
    },
    /** Whether `assertUsable` throws nothing. */
    isUsable: (): boolean => stallingSkew() === null,
    /** @throws {ScanError} CLOCK_OFF if, by enough peers, the clock is so far off that the process stalls. */
    assertUsable(): void {
      const skewMicros = stallingSkew()
      if (skewMicros === null) return
      throw new ScanError(
        'CLOCK_OFF',
        `The clock of this process is ${describeClockSkew(skewMicros, `those of ${needed} nodes or more`)}: check its time service (NTP).`,
        { details: { offset_ms: skewMicros / 1000 }, retryAfterSeconds: 1 },
      )
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await poll[Symbol.asyncDispose]()
      await client[Symbol.asyncDispose]()
    },
  }
}

type Answer = {
  readonly reading: ClockReading
  /** Whether the peer says that it has the newest entries of the log, and answers lookups. */
  readonly isFollowing: boolean
  /** Null: it reports none. */
  readonly memoryShare: number | null
}
type Latest = PeerPoll<Answer>['latest']

/** Logs each change, also from one skew to another. */
function createVerdictLog(needed: number, logger: Logger) {
  /** The skew of the last warning; null without one, or since the clock is right again. */
  let warnedMicros: number | null = null
  return (now: ClockComparison): void => {
    if (now.kind === 'off') {
      const hasWarned =
        warnedMicros !== null && Math.abs(now.skewMicros - warnedMicros) <= CLOCK_TOLERANCE_MICROS
      if (hasWarned) return
      warnedMicros = now.skewMicros
      logger.warn(
        { skewMs: now.skewMicros / 1000 },
        `this clock is ${describeClockSkew(now.skewMicros, `those of ${needed} peers or more`)}: check the time service (NTP)`,
      )
    } else if (now.kind === 'agrees' && warnedMicros !== null) {
      warnedMicros = null
      logger.info('this clock agrees with its peers again')
    }
  }
}

/** For `/status`: how far this process's clock is ahead, in whole milliseconds; null while too few peers answer. */
export function clockSkewMs(clocks: Pick<PeerClocks, 'verdict'>): number | null {
  const verdict = clocks.verdict()
  return verdict.kind === 'unknown' ? null : Math.round(verdict.skewMicros / 1000)
}

/**
 * Checks the replica of a process, a `node` or a `validator`.
 *
 * @throws {ScanError} CLOCK_OFF if its clock lags the log; NOT_READY; the reason for which it stalls.
 */
export function assertFollowing(
  what: string,
  replica: { state(): string; haltReason(): ScanError | null },
): void {
  const state = replica.state()
  if (state === 'live') return
  const haltReason = replica.haltReason()
  if (haltReason !== null) throw haltReason
  const seconds = STALLED_MICROS / MICROS_PER_SECOND
  const options = { details: { state }, retryAfterSeconds: 1 }
  const late = `The clock of this ${what} lags the log's by more than ${seconds} s: it stalls.`
  if (state === 'clock-behind') throw new ScanError('CLOCK_OFF', late, options)
  const other = `The replica of this ${what} is ${state.replaceAll('-', ' ')}.`
  throw new ScanError('NOT_READY', other, options)
}

function integerOf(text: string | null): number | null {
  return text !== null && /^[0-9]{1,16}$/.test(text) && Number.isSafeInteger(Number(text))
    ? Number(text)
    : null
}
