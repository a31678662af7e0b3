/**
 * The ingest loop. It reads entries from the log, checks their time (Rule 6), interprets them, writes them with a fence
 * (Rule 3) and reports them. It continues after lost connections, and after Redis lost its last seconds.
 */
import type { Clock } from '@quorumscan/base'
import { isScanError } from '@quorumscan/errors'
import { type LogEntry, type Ordering, type Snapshots, WorkingState } from '@quorumscan/ledger'
import type { Micros, Offset } from '@quorumscan/model'
import type { Redis } from 'ioredis'
import { ACTIVITY_CLEAN_UP_PORTION, cleanUpActivities } from '../clean-up/activity-clean-up.ts'
import { cleanUp, cleanUpBacklog } from '../clean-up/clean-up.ts'
import { beginHistory } from '../clean-up/update-history.ts'
import { isConnectionError, isReplyError, untilReady } from '../connection.ts'
import { loadSnapshot } from '../snapshot/load-snapshot.ts'
import type { SnapshotMaker } from '../snapshot/maker.ts'
import { SnapshotError } from '../snapshot/records.ts'
import type { StateTreeUpdater } from '../state-tree/tree-updater.ts'
import { deleteReplica } from '../storage/delete-replica.ts'
import type { InterpretedEntry } from '../storage/step.ts'
import { type HeadState, isStored, writeSteps } from '../storage/store.ts'
import { type GenesisContext, loadOrStart } from './genesis.ts'
import { type BatchContext, interpretBatch } from './interpret-batch.ts'

/** Rule 6: an entry is applied when its record time is at most this far ahead of this process's clock. */
export const RECORD_TIME_AHEAD_MICROS_MAX = 10_000_000
/** Entries per write: a lost write repeats at most this much work, and reads wait 10 ms at most. */
const BATCH_ENTRIES_MAX = 500
/** Bytes of entries per write, so that a write of the largest entries stays far below Redis's limits. */
const BATCH_BYTES_MAX = 4 * 1024 * 1024
/** Clean-up keeps pace with 4 × 500 versions per batch, and delays no batch by more than some 10 ms. */
const CLEAN_UP_PASSES_MAX = 4
/** Cells that are cached between batches, about 1 KiB each. */
const CELLS_MAX = 50_000
/** The time between checks of a clock that lags, and between writes to a Redis that refuses them. */
const RETRY_MS = 1_000

export type IngestContext = GenesisContext & {
  readonly clock: Clock
  readonly participant?: string
  /** Reads the newest state, for interpretation. */
  readonly fetch: BatchContext['fetch']
  readonly state: StateTreeUpdater
  /** Takes snapshots of the written state; null: none are taken. */
  readonly maker: SnapshotMaker | null
  /** Finds snapshots of other nodes; absent where there is no node to ask. */
  readonly snapshots?: Pick<Snapshots, 'find'>
  readonly onProblem: (error: Error) => void
  /** Receives the offset that a write is about to reach. */
  readonly onWriting: (offset: Offset) => void
  /** Called when entries begin or stop to wait for this process's clock. */
  readonly onClockWait: (isWaiting: boolean) => void
  /** Called when the stored state was loaded, without entries, and after each write, with its entries. */
  readonly onHeadState: (headState: HeadState, entries: readonly InterpretedEntry[]) => void
  readonly signal: AbortSignal
}

/** Errors that waiting does not resolve: an operator must act. */
const HALT_CODES = ['LOG_REGRESSED', 'SOFTWARE_OUTDATED'] as const

/**
 * Runs until the signal aborts, and returns null; or until ingest must stop, and returns the reason.
 *
 * @throws A bug, or ReplicaStateError for a foreign replica.
 */
export async function ingest(redis: Redis, ordering: Ordering, context: IngestContext) {
  const { signal } = context
  let isBehindLog = false
  while (!signal.aborted) {
    try {
      await untilReady(redis, signal)
      await followFromHead(redis, ordering, { ...context, isBehindLog })
      isBehindLog = false
    } catch (error) {
      context.maker?.abandon()
      if (signal.aborted) break
      if (isScanError(error) && HALT_CODES.some((code) => code === error.code)) {
        context.onProblem(error)
        return error
      }
      if (isConnectionError(error)) continue
      const isPruned = isScanError(error, 'OFFSET_PRUNED')
      if (isPruned && !isBehindLog) {
        isBehindLog = true
        continue
      }
      if (!(isPruned || isReplyError(error) || error instanceof SnapshotError)) throw error
      context.onProblem(error as Error)
      await context.clock.delay(RETRY_MS, signal).catch(() => {}) // Aborted: the loop ends.
    }
  }
  return null
}

/**
 * Returns when the stored state has to be loaded again.
 *
 * @throws {ScanError} OFFSET_PRUNED if the log begins after the stored head, and no member has a snapshot.
 */
async function followFromHead(
  redis: Redis,
  ordering: Ordering,
  context: IngestContext & {
    /** The log begins after the stored head. */
    readonly isBehindLog: boolean
  },
): Promise<void> {
  const { genesis, genesisHash, layout, participant, fetch, signal, isBehindLog } = context
  context.maker?.abandon()
  const headState = await loadOrStart(redis, context, signal)
  // Loading a snapshot is quicker than applying the log from its beginning.
  const isWanted = isBehindLog || headState.head.offset === 0
  if (isWanted && (await startFromSnapshot(redis, headState, context))) return
  if (!(await context.state.ensureLoaded(redis, headState))) return
  context.onHeadState(headState, [])
  if (
    participant !== undefined &&
    (await beginHistory(redis, headState, { layout, signal })) === 'fenced'
  )
    return
  const working = new WorkingState()
  const { offset, recordTime, entryHash } = headState.head
  const batches = ordering.follow({
    from: offset,
    expected: offset === 0 ? null : { recordTime, entryHash },
    batchEntriesMax: BATCH_ENTRIES_MAX,
    signal,
  })
  for await (const batch of batches) {
    // Entries are delivered at least once: skip those that were applied.
    let rest = batch.filter((entry) => entry.offset > headState.head.offset)
    while (rest.length > 0) {
      const ready = await untilApplicable(rest, context)
      const interpreting = interpretBatch(ready, headState.head, {
        genesis,
        genesisHash,
        ...(participant !== undefined && { participant }),
        state: working,
        fetch,
      })
      const entries = await interpreting.catch(async (error: unknown) => {
        // The error is not a bug if Redis was wiped during the interpretation.
        if (await isStored(redis, headState.head)) throw error
        return null
      })
      if (entries === null) return
      const state = await context.state.apply(entries, headState)
      if (state === null) return
      context.maker?.note(entries, headState)
      const retainFrom = context.maker?.retainFrom() ?? null
      context.onWriting(entries.at(-1)?.offset ?? headState.head.offset)
      const batch = { steps: entries, state, retainFrom, layout, signal }
      if ((await writeSteps(redis, headState, batch)) === 'fenced') return
      context.onHeadState(headState, entries)
      context.maker?.written(headState, context.state.history())
      if (working.cellCount > CELLS_MAX) working.clear()
      if (
        (await keepClean(redis, headState, { genesis, entries, retainFrom, signal })) === 'fenced'
      )
        return
      rest = rest.slice(entries.length)
    }
  }
}

/** Whether a newer snapshot has replaced the stored state. */
async function startFromSnapshot(redis: Redis, { head }: HeadState, context: IngestContext) {
  const found = (await context.snapshots?.find(head.offset, context.signal)) ?? null
  if (found === null) return false
  await deleteReplica(redis)
  const { outcome, history } = await loadSnapshot(redis, found, context)
  if (outcome === 'written') context.state.adopt(history)
  return true
}

/** The first entries that fit into one write, once this process's clock has reached their record time. */
async function untilApplicable(
  entries: readonly LogEntry[],
  context: Pick<IngestContext, 'clock' | 'onClockWait' | 'signal'>,
): Promise<readonly LogEntry[]> {
  for (;;) {
    const latest: Micros = context.clock.nowMicros() + RECORD_TIME_AHEAD_MICROS_MAX
    let count = 0
    let bytes = 0
    for (const entry of entries) {
      bytes += entry.bytes.byteLength
      if (entry.recordTime > latest || (count > 0 && bytes > BATCH_BYTES_MAX)) break
      count++
    }
    context.onClockWait(count === 0)
    if (count > 0) return entries.slice(0, count)
    await context.clock.delay(RETRY_MS, context.signal)
  }
}

async function keepClean(
  redis: Redis,
  headState: HeadState,
  batch: Pick<IngestContext, 'genesis' | 'signal'> & {
    readonly entries: readonly InterpretedEntry[]
    readonly retainFrom: Micros | null
  },
): Promise<'written' | 'fenced'> {
  const { genesis, entries, retainFrom, signal } = batch
  for (let pass = 0; pass < CLEAN_UP_PASSES_MAX && cleanUpBacklog(headState) > 0; pass++)
    if ((await cleanUp(redis, headState, signal)) === 'fenced') return 'fenced'
  const added = entries.reduce((sum, entry) => sum + (entry.activities?.length ?? 0), 0)
  // Twice what the batch added can go with it, so that rows never pile up.
  const passes = CLEAN_UP_PASSES_MAX + Math.ceil((2 * added) / ACTIVITY_CLEAN_UP_PORTION)
  for (let pass = 0; pass < passes; pass++) {
    const outcome = await cleanUpActivities(redis, headState, { genesis, retainFrom, signal })
    if (outcome === 'fenced') return 'fenced'
    if (outcome === 'done') break
  }
  return 'written'
}
