/**
 * The writer of the ordering driver `redis`: gives entries their offset and record time, commits them in
 * signed groups, and advances record time by checkpoints. One writer at a time: a second one is fenced.
 * It does not interpret entries, and does not check which client may submit them.
 */

import type { Clock, KeyPair, Random } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { RedisAddress } from '@quorumscan/redis'
import { type ChainEnd, chainEndOf } from './chain.ts'
import type { LogConnection } from './connection.ts'
import { createEntryQueue, fitsIntoGroup } from './entry-queue.ts'
import { type ConfirmingNodes, createLogGate } from './gate.ts'
import { type LogGenesis, type SignedGroup, signGroup } from './group.ts'
import { LogConfigError, LogFencedError, LogUnavailableError } from './log-errors.ts'
import { reconnectDelayMs } from './reconnect.ts'
import { openWriterSession, type WriterPosition } from './writer-session.ts'

export type LogWriterOptions = {
  readonly redis: RedisAddress
  readonly genesis: LogGenesis
  /** The synchronizer's. */
  readonly keyPair: KeyPair
  readonly clock: Clock
  readonly random: Random
  /** Nodes that confirm clock and length of the log before anything is written; null: both are trusted. */
  readonly confirmingNodes: ConfirmingNodes | null
  /** Gives up waiting for Redis at the start; afterwards disposing ends the writer. */
  readonly signal: AbortSignal
  /** Receives every group that is on disk, in order, and the newest group at each connection; must not throw. */
  readonly onCommitted?: (group: SignedGroup) => void
  /** Receives the error of every lost connection. */
  readonly onProblem?: (error: LogUnavailableError) => void
}

/** `unavailable`: Redis is down, appends are refused until it is back. */
export type LogWriterState = 'ready' | 'unavailable' | 'stopped'

/** Disposing refuses new entries, commits those that wait, and closes the connection. */
export type LogWriter = Awaited<ReturnType<typeof createLogWriter>>

/** The time of a checkpoint after an entry. Clients may wait until record time has passed the entry. */
const CHECKPOINT_AFTER_ENTRY_MS = 250
/** The bounds for checkpoints of an idle log. `maxAge` depends on checkpoints; each costs an fsync. */
const CHECKPOINT_IDLE_MS_MIN = 2000
const CHECKPOINT_IDLE_MS_MAX = 10_000
const CHECKPOINT = new Uint8Array(0)
/** Between checks of a clock that is off: the log continues as soon as it is right. */
const PAUSED_LOOK_MS = 200

/**
 * Waits for Redis and continues after the newest group.
 *
 * @throws {LogConfigError} If Redis could lose what it acknowledged, or the key is not the genesis's.
 * @throws {LogGroupError} If the newest group is not of this network.
 */
export async function createLogWriter(options: LogWriterOptions) {
  const { genesis, keyPair, clock, random } = options
  if (genesis.ordering.driver !== 'redis' || keyPair.publicKey !== genesis.ordering.key)
    throw new LogConfigError('the key is not the one that the genesis names for the synchronizer')

  const queue = createEntryQueue()
  const closing = new AbortController()
  /** Aborts connecting to a Redis that is down, for which draining must not wait. */
  const abandoned = new AbortController()
  let state: LogWriterState = 'unavailable'
  let position: WriterPosition = { end: null, unsettled: null }
  const gate = createLogGate(options)
  let wake = () => {}
  let isCheckpointAsked = false

  const append = async (connection: LogConnection, end: ChainEnd, group: SignedGroup) => {
    position = { end, unsettled: group }
    if (!(await connection.append(group, end.offset)))
      throw new LogFencedError(`another writer appended after ${end.offset}`)
    position = { end: chainEndOf(group), unsettled: null }
    options.onCommitted?.(group)
    return chainEndOf(group)
  }

  const waitForWork = async (ms: number): Promise<void> => {
    const woken = new AbortController()
    wake = () => woken.abort()
    // Rejects when an entry arrives, the connection closes or the writer closes: that only ends the wait.
    await clock.delay(ms, woken.signal).catch(() => undefined)
    wake = () => {}
  }

  /** Appends until the connection is lost (throws) or the writer has drained (returns). */
  const work = async (onReady: () => void): Promise<void> => {
    const own = { position, signal: abandoned.signal, onClose: () => wake() }
    const session = await openWriterSession({ ...options, ...own })
    const { connection } = session
    try {
      let end = session.end
      position = session
      if (end.group !== null) options.onCommitted?.(end.group)

      if (session.unsettled !== null) end = await append(connection, end, session.unsettled)
      if (!closing.signal.aborted) state = 'ready'
      onReady()
      let checkpointMs = CHECKPOINT_AFTER_ENTRY_MS
      let isPaused = false
      for (;;) {
        const isIdle = queue.isEmpty() && !isCheckpointAsked
        if (isIdle && !closing.signal.aborted && connection.isOpen())
          await waitForWork(isPaused ? PAUSED_LOOK_MS : checkpointMs)
        isCheckpointAsked = false
        if (queue.isEmpty() && closing.signal.aborted) return
        if (!connection.isOpen()) throw new LogUnavailableError('the connection was closed')
        const recordTime = gate.next(end)
        isPaused = recordTime instanceof ScanError
        if (recordTime instanceof ScanError) {
          for (const { reject } of queue.takeAll()) reject(recordTime)
          continue
        }
        // Group commit: what arrives during this append goes with the next.
        const waiting = queue.takeGroup()
        const entries = waiting.length > 0 ? waiting.map(({ bytes }) => bytes) : [CHECKPOINT]
        const group = signGroup(
          {
            firstOffset: end.offset + 1,
            previousHash: end.hash,
            entries: entries.map((bytes, index) => ({ recordTime: recordTime + index, bytes })),
          },
          { genesisHash: genesis.hash, keyPair },
        )
        try {
          end = await append(connection, end, group)
        } catch (error) {
          for (const { reject } of waiting) reject(unavailable(error))
          throw error
        }
        for (const { resolve } of waiting) resolve()
        checkpointMs = waiting.length > 0 ? CHECKPOINT_AFTER_ENTRY_MS : nextIdleMs(checkpointMs)
      }
    } finally {
      connection.close()
    }
  }

  const run = async (onReady: () => void): Promise<void> => {
    let failures = 0
    try {
      for (;;) {
        try {
          await work(() => {
            failures = 0
            onReady()
          })
          return
        } catch (error) {
          if (!(error instanceof LogUnavailableError)) throw error
          if (closing.signal.aborted) return
          state = 'unavailable'
          for (const { reject } of queue.takeAll()) reject(unavailable(error))
          options.onProblem?.(error)
          failures++
        }
        await clock.delay(reconnectDelayMs(failures, random), closing.signal).catch(() => undefined) // Closing: one more try, so that an unsettled group is settled.
      }
    } finally {
      state = 'stopped'
      for (const { reject } of queue.takeAll()) reject(unavailable(undefined))
    }
  }

  const close = () => {
    if (state !== 'ready') abandoned.abort()
    state = 'stopped'
    closing.abort()
    wake()
  }

  const head = () => ({
    offset: position.end?.offset ?? 0,
    recordTime: position.end?.recordTime ?? genesis.recordTime,
  })

  options.signal.addEventListener('abort', close)
  let finished: Promise<void> = Promise.resolve()
  await new Promise<void>((resolve, reject) => {
    finished = run(resolve)
    // The writer never got ready: it was aborted, or refused.
    finished.then(() => reject(options.signal.reason), reject)
  }).finally(() => options.signal.removeEventListener('abort', close))

  return {
    /**
     * Resolves when the entry is on disk. The senders of entries share the queue. Empty bytes ask for a checkpoint: resolves at once, and the next group is
     * appended without a pause.
     *
     * @throws {ScanError} BODY_TOO_LARGE, OVERLOADED, NOT_READY, CLOCK_OFF, LOG_REGRESSED (certainly not appended);
     *   DEPENDENCY_UNAVAILABLE (unknown).
     */
    async append(bytes: Uint8Array, sender = ''): Promise<void> {
      if (!fitsIntoGroup(bytes))
        throw new ScanError('BODY_TOO_LARGE', 'the entry fits into no group')
      if (state === 'stopped') throw new ScanError('NOT_READY', 'the synchronizer is stopping')
      if (state === 'unavailable') throw unavailable(undefined)
      if (bytes.byteLength === 0) {
        isCheckpointAsked = true
        wake()
        return
      }
      return new Promise((resolve, reject) => {
        if (queue.push({ bytes, sender, resolve, reject })) wake()
        else reject(new ScanError('OVERLOADED', 'too many entries wait for the log'))
      })
    },
    state: () => state,
    /** Why nothing is written at this moment, although Redis is reachable: the clock, or a log that lost its end. */
    refusal: () => gate.refusal(head()),
    /** Newest entry that is on disk. */
    head,
    /** Resolves after disposing; rejects with the error that forbids the writer to continue. */
    finished,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      close()
      await finished.catch(() => undefined) // A caller that needs the reason awaits `finished`.
    },
  }
}

/** 250 ms, 2 s, 4 s, 8 s, 10 s, 10 s, … while only checkpoints are appended. */
function nextIdleMs(checkpointMs: number): number {
  if (checkpointMs === CHECKPOINT_AFTER_ENTRY_MS) return CHECKPOINT_IDLE_MS_MIN
  return Math.min(CHECKPOINT_IDLE_MS_MAX, 2 * checkpointMs)
}

function unavailable(cause: unknown): ScanError {
  return new ScanError('DEPENDENCY_UNAVAILABLE', "the log's Redis is not available", { cause })
}
