/**
 * The state that follows from genesis and log, stored in Redis. This file runs ingest and scrub, and reports applied
 * entries. The reads are in the read objects: `lookups` at an offset, `history` of updates, `proofs`, and the reads of
 * the newest state that the port `Ledger` names.
 *
 * `onApplied` reports entries that this process wrote: each once while Redis keeps its data. It may report entries again
 * after Redis lost its last seconds, and does not report those of another process. A sweep must find the rest.
 */
import { assert, type Clock, held, linkedController } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { AppliedEntry, Head, Ordering, Snapshots } from '@quorumscan/ledger'
import type { Offset } from '@quorumscan/model'
import type { RedisAddress } from '@quorumscan/redis'
import { endConnection, estimateBytes, openRedis } from '@quorumscan/redis'
import type { Genesis } from '@quorumscan/verifier'
import { raiseHorizon } from './clean-up/clean-up.ts'
import { pruneHistory } from './clean-up/update-history.ts'
import { openReadConnection } from './connection.ts'
import { loadOrStart } from './ingest/genesis.ts'
import { ingest, RECORD_TIME_AHEAD_MICROS_MAX } from './ingest/ingest.ts'
import { fetchCells } from './reads/cells.ts'
import type { Store } from './reads/contracts.ts'
import { createLookups } from './reads/lookups.ts'
import { createNameReader } from './reads/name-reader.ts'
import { createNewestReads } from './reads/newest-reads.ts'
import { createPins } from './reads/pins.ts'
import { createUpdateHistory, type HistoryStep } from './reads/update-reads.ts'
import { createSnapshotMaker } from './snapshot/maker.ts'
import { scrub } from './state-tree/scrub.ts'
import { createStateService } from './state-tree/state-service.ts'
import { createStateTreeUpdater, stateDiverged } from './state-tree/tree-updater.ts'
import { deleteReplica } from './storage/delete-replica.ts'
import { ReplicaStateError } from './storage/head.ts'
import { KEYS } from './storage/keys.ts'
import { createLayout } from './storage/layout.ts'
import { touchedVersions } from './storage/plan-versions.ts'
import type { InterpretedEntry } from './storage/step.ts'
import type { HeadState } from './storage/store.ts'

export type ReplicaOptions = {
  /** The Redis that holds the replica. */
  readonly redis: RedisAddress
  readonly genesis: Genesis
  /** Hex. */
  readonly genesisHash: string
  /** Jobs whose due work this replica reports. Default: all. Each other job costs a member for each contract. */
  readonly dueJobs?: readonly string[]
  readonly clock: Clock
  /** The participant whose completions and history of updates are stored, `1220` and 64 hex digits. Default: none. */
  readonly participant?: string
  /** Stores own snapshots, and finds one to start from. Default: the replica starts from the log alone. */
  readonly snapshots?: Snapshots
  /** Receives the reason why ingest waits or stops. */
  readonly onProblem?: (error: Error) => void
  /**
   * Called if the stored replica has another layout. The replica starts from scratch after this has deleted it.
   * Default: such a replica is an error.
   */
  readonly rebuild?: (deleteStored: () => Promise<unknown>) => Promise<void>
}

/**
 * `clock-behind`: entries wait, or are newer than they can be, because this process's clock is slow (Rule 6). `halted`:
 * ingest has stopped, and an operator must act.
 */
export type ReplicaState = 'starting' | 'catching-up' | 'clock-behind' | 'live' | 'halted'

/** An idle log has one at least every 10 s; a head that is older by this process's clock lags. */
const LIVE_LAG_MICROS_MAX = 15_000_000
/** Writing the genesis into a fresh Redis takes milliseconds. */
const START_MS_MAX = 10_000

/** A name that declarations of other packages can refer to. */
export interface Replica extends ReturnType<typeof createReplica> {}

/**
 * Connects, checks Redis, and writes the genesis where Redis is empty. The replica owns its connections. One `run` at a
 * time writes; any number of processes may read.
 *
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE if Redis cannot be reached or may evict keys.
 * @throws {ReplicaStateError} If Redis holds the replica of another genesis, or of another layout without `rebuild`.
 */
export async function openReplica(options: ReplicaOptions): Promise<Replica> {
  const redis = await openReadConnection(options.redis)
  try {
    const store = { redis, layout: createLayout(options) }
    const { genesis, genesisHash } = options
    const stored = { genesis, genesisHash, layout: store.layout }
    const load = () => loadOrStart(redis, stored, AbortSignal.timeout(START_MS_MAX))
    const headState = await load().catch(async (error: unknown) => {
      const isOther = error instanceof ReplicaStateError && error.isOfOtherLayout
      if (!isOther || options.rebuild === undefined) throw error
      await options.rebuild(() => deleteReplica(redis))
      return await load()
    })
    return createReplica(options, store, headState)
  } catch (error) {
    redis.disconnect()
    throw error
  }
}

function createReplica(options: ReplicaOptions, store: Store, stored: HeadState) {
  const { genesis, genesisHash, participant, clock, snapshots } = options
  const { redis, layout } = store
  const onProblem = (error: Error) => options.onProblem?.(error)
  const closing = new AbortController()
  const listeners = held(
    {
      owner: 'replica',
      name: 'listeners of entries',
      kind: 'state',
      bound: 'one of each part of the process',
    },
    new Set<(entry: AppliedEntry) => void>(),
  )
  const historyListeners = held(
    {
      owner: 'replica',
      name: 'listeners of the history',
      kind: 'state',
      bound: 'one of each part of the process',
    },
    new Set<(step: HistoryStep) => void>(),
  )
  let headState = stored
  let writing: Offset = 0
  let haltReason: ScanError | null = null
  let isWaitingForClock = false
  let running: Promise<void> | null = null

  const treeUpdater = createStateTreeUpdater({ genesis, layout, onProblem })
  const nameReader = createNameReader(redis, { onRead: treeUpdater.compareNames })
  const head = () => headState.head
  const proofs = createStateService({ redis, genesis, nameReader, treeUpdater, head })
  const pins = createPins(() => headState, clock)

  /** The timeline entry of an offset, for answers from the stored state. */
  const readablePositionOf = (offset: Offset) => {
    const diverged = proofs.diverged()
    // A wrong answer is worse than none: failures do not vote (Rule 8).
    if (diverged !== null) throw stateDiverged(diverged)
    return pins.at(offset)
  }

  const moveTo = (moved: HeadState, entries: readonly InterpretedEntry[]): void => {
    headState = moved
    // Without entries the state was loaded again.
    const isReloaded = entries.length === 0
    nameReader.moveTo(moved.head.offset, isReloaded ? null : touchedVersions(entries).names)
    pins.wake()
    proofs.onWritten()
    if (historyListeners.size > 0) {
      const { offset, recordTime } = moved.head
      const after = isReloaded ? null : offset - entries.length
      const updates = entries.flatMap(({ update }) => update ?? [])
      for (const listener of historyListeners)
        listener({ after, head: { offset, recordTime }, updates })
    }
    for (const { delta, ...entry } of entries)
      for (const listener of listeners)
        listener({ ...entry, created: delta.created, archived: delta.archived })
  }

  const applyLog = async (ordering: Ordering, signal: AbortSignal): Promise<void> => {
    const writer = openRedis(options.redis, 'replicaWrite')
    // A Redis that hangs must not delay the end of the process.
    const onAbort = () => writer.disconnect()
    signal.addEventListener('abort', onAbort, { once: true })
    const take = snapshots?.take?.bind(snapshots)
    try {
      haltReason = await ingest(writer, ordering, {
        genesis,
        genesisHash,
        layout,
        clock,
        ...(participant !== undefined && { participant }),
        fetch: (keys) => fetchCells({ redis: writer, layout }, keys),
        state: treeUpdater,
        maker: take
          ? createSnapshotMaker({ store, genesis, genesisHash, take, clock, onProblem })
          : null,
        ...(snapshots !== undefined && { snapshots }),
        signal,
        onProblem,
        onWriting(offset) {
          writing = offset
        },
        onClockWait(isWaiting) {
          isWaitingForClock = isWaiting
        },
        onHeadState: moveTo,
      })
    } finally {
      isWaitingForClock = false
      signal.removeEventListener('abort', onAbort)
      endConnection(writer)
    }
  }

  /** Ingest, and the scrub as long as it runs. */
  const runBoth = async (ordering: Ordering, signal: AbortSignal): Promise<void> => {
    const ended = linkedController(signal)
    await Promise.all([
      applyLog(ordering, signal).finally(() => ended.abort()),
      scrub({ ...store, genesis, clock, treeUpdater, signal: ended.signal }),
    ])
  }

  return {
    ...createNewestReads({
      store,
      genesis,
      genesisHash,
      clock,
      recordTime: () => headState.head.recordTime,
    }),
    proofs,
    lookups: createLookups({ store, genesis, nameReader, readablePositionOf }),
    history: createUpdateHistory(store),
    pin: pins.pin,
    pinNow: pins.pinNow,
    /**
     * Applies the log until the signal aborts, or until ingest must stop: then reads continue, and `haltReason` returns
     * the reason.
     *
     * @throws A bug, or ReplicaStateError: the process should end.
     */
    run(ordering: Ordering, signal: AbortSignal): Promise<void> {
      assert(running === null, 'a replica has one run at a time')
      const ending = linkedController(signal, closing.signal)
      running = runBoth(ordering, ending.signal).finally(() => {
        ending.abort()
        running = null
      })
      return running
    },
    /** `starting` until a run has loaded the state, `live` while the head is recent by the local clock. */
    state(): ReplicaState {
      if (haltReason !== null) return 'halted'
      if (running === null) return 'starting'
      const lag = clock.nowMicros() - headState.head.recordTime
      if (isWaitingForClock || -lag > RECORD_TIME_AHEAD_MICROS_MAX) return 'clock-behind'
      return lag <= LIVE_LAG_MICROS_MAX ? 'live' : 'catching-up'
    },
    /** The names that are stored, with those that ended lately. */
    nameCount: () => redis.zcard(KEYS.lex),
    /** What names take in Redis, estimated from a sample, without other contracts of their registration. */
    nameBytes: () => estimateBytes(redis, [KEYS.names, KEYS.lex, KEYS.parties]),
    /** Why ingest has stopped: LOG_REGRESSED, SOFTWARE_OUTDATED. */
    haltReason: () => haltReason,
    head: (): Head => headState.head,
    /** The offset of `head`, or the end of a write that is under way. No read returns newer data. */
    visibleOffset: () => Math.max(headState.head.offset, writing),
    onApplied: (listener: (entry: AppliedEntry) => void) => subscribe(listeners, listener),
    /** As `onApplied`, once for each write, with what the write added to the history of updates. */
    onHistory: (listener: (step: HistoryStep) => void) => subscribe(historyListeners, listener),
    /**
     * Deletes updates and completions up to an offset; returns the offset up to which they are pruned now.
     *
     * @throws {ScanError} NOT_READY while the index of archivals is made.
     */
    async prune(upTo: Offset): Promise<Offset> {
      assert(upTo <= headState.head.offset, 'what is pruned has been applied')
      return await pruneHistory(store, upTo)
    },
    /** The oldest offset that can be read (D-10). */
    horizon: () => headState.head.horizon,
    /**
     * Moves the horizon up to an offset that has been applied; a restart does not move it back, only a wipe.
     * Returns the horizon: never less than before.
     */
    async raiseHorizon(horizon: Offset, signal: AbortSignal): Promise<Offset> {
      assert(horizon <= headState.head.offset, 'the head can always be read')
      // Fenced by the ingest, whose reply is about to arrive.
      while ((await raiseHorizon(redis, headState, { horizon, signal })) === 'fenced')
        signal.throwIfAborted()
      return headState.head.horizon
    },
    async [Symbol.asyncDispose](): Promise<void> {
      closing.abort(new ScanError('NOT_READY', 'The replica is closed.'))
      await running?.catch(() => {}) // The caller of `run` receives the error.
      redis.disconnect()
    },
  }
}

/** Returns the way to stop. */
function subscribe<T>(listeners: Set<T>, listener: T): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
