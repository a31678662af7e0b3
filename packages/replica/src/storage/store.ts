/**
 * The stored replica and its head state in memory: loads them, and writes batches of steps with a fence.
 * The outcome of a write after a lost connection is read, never guessed (Rule 3).
 */
import { assert, bytesEqual } from '@quorumscan/base'
import type { Micros } from '@quorumscan/model'
import type { Frontier } from '@quorumscan/verifier/state-tree'
import type { Redis } from 'ioredis'
import { isConnectionError, untilReady } from '../connection.ts'
import { readFrontier } from './activity-tiles.ts'
import type { GatheredCommands } from './commands.ts'
import { decodeHead, encodeHead, type StateMark, type StoredHead } from './head.ts'
import { readHeadBytes } from './head-reads.ts'
import { KEYS } from './keys.ts'
import type { Layout } from './layout.ts'
import { planBatch } from './plan.ts'
import { touchedTotals } from './plan-contracts.ts'
import { touchedVersions } from './plan-versions.ts'
import { writeBatch } from './scripts.ts'
import type { Step } from './step.ts'
import { createTimeline, decodeTimelineEntry, type Timeline } from './timeline.ts'
import { readTotals } from './totals.ts'
import { decodeVersions, type Version } from './versions.ts'

/** The process's copy of head and timeline of the stored state; exact after each write. */
export type HeadState = {
  head: StoredHead
  timeline: Timeline
  /** The activity tree at the head. */
  activities: Frontier
}

/** `fenced`: another process wrote, or Redis lost its last seconds. Nothing was changed: load the state again. */
export type WriteOutcome = 'written' | 'fenced'

/** Instants per LRANGE while loading: 240 kB per reply. */
const LOAD_PORTION = 5_000
/** Expired records that are deleted with each batch: more than a batch adds. */
export const EXPIRED_PORTION = 1_000

/** Null if Redis holds no replica. */
export async function loadHeadState(redis: Redis): Promise<HeadState | null> {
  for (;;) {
    const bytes = await readHeadBytes(redis)
    if (bytes === null) return null
    const head = decodeHead(bytes)
    const timeline = createTimeline()
    const count = head.offset - head.horizon + 1
    for (let start = 0; start < count; start += LOAD_PORTION) {
      const stop = Math.min(start + LOAD_PORTION, count) - 1
      const members = await redis.lrangeBuffer(KEYS.at, start, stop)
      for (const [index, member] of members.entries())
        timeline.append(decodeTimelineEntry(head.horizon + start + index, member))
    }
    const activities = await readFrontier(redis, head.activityCount)
    const after = await readHeadBytes(redis)
    // Another process wrote in between: head and timeline may not belong together.
    if (after === null || !bytesEqual(bytes, after)) continue
    assert(timeline.at(head.offset) !== undefined, 'the stored history reaches up to the head')
    return { head, timeline, activities }
  }
}

/** Writes the steps that follow the head, and advances the head state. */
export async function writeSteps(
  redis: Redis,
  headState: HeadState,
  batch: {
    readonly steps: readonly Step[]
    /** As of the last step. Default: unchanged. */
    readonly state?: StateMark
    /** Records that existed at this record time, or later, are not deleted; null for no such limit. */
    readonly retainFrom?: Micros | null
    readonly layout: Layout
    readonly signal: AbortSignal
  },
): Promise<WriteOutcome> {
  const { steps, state = headState.head.state, layout, signal } = batch
  const recordTime = steps.at(-1)?.recordTime ?? headState.head.recordTime
  const expiredAt = Math.min(recordTime, batch.retainFrom ?? recordTime)
  const { stored, expired, head } = await readForPlan(redis, steps, expiredAt)
  // The stored versions belong to another state than the steps.
  if (head === null || !bytesEqual(head, encodeHead(headState.head))) return 'fenced'
  const plan = planBatch({ ...headState, layout, steps, state, stored, expired })
  const outcome = await writeFenced(redis, headState, { ...plan, signal })
  if (outcome === 'written') {
    headState.activities = plan.activities
    headState.timeline.dropBelow(plan.head.horizon)
  }
  return outcome
}

/** Whether what is stored is still of this head. */
export async function isStored(redis: Redis, head: StoredHead): Promise<boolean> {
  const stored = await readHeadBytes(redis)
  return stored !== null && bytesEqual(stored, encodeHead(head))
}

/**
 * One fenced write, which advances the head. After a lost connection it waits, and reads whether the write
 * happened.
 *
 * @param headState - Null for a Redis that holds no replica.
 * @param write.head - After the write.
 */
export async function writeFenced(
  redis: Redis,
  headState: Pick<HeadState, 'head'> | null,
  write: {
    readonly head: StoredHead
    readonly commands: Pick<GatheredCommands, 'take'>
    readonly signal: AbortSignal
  },
): Promise<WriteOutcome> {
  const expected = headState === null ? new Uint8Array(0) : encodeHead(headState.head)
  const next = encodeHead(write.head)
  const commands = write.commands.take()
  const isWritten = await writeOnce(redis, { commands, expected, next, signal: write.signal })
  if (isWritten && headState !== null) headState.head = write.head
  return isWritten ? 'written' : 'fenced'
}

/**
 * One fenced write that leaves the head as it is. So after a lost connection the head does not show whether the write
 * happened: this throws the error, and the caller begins again.
 */
export async function writeAtHead(
  redis: Redis,
  head: StoredHead,
  commands: Pick<GatheredCommands, 'take'>,
): Promise<WriteOutcome> {
  const bytes = encodeHead(head)
  const batch = { expected: bytes, next: bytes, commands: commands.take() }
  return (await writeBatch(redis, batch)) ? 'written' : 'fenced'
}

async function writeOnce(
  redis: Redis,
  batch: Parameters<typeof writeBatch>[1] & { readonly signal: AbortSignal },
): Promise<boolean> {
  try {
    return await writeBatch(redis, batch)
  } catch (error) {
    if (!isConnectionError(error)) throw error
  }
  // The write is not repeated: it may have been computed from a state that Redis lost.
  for (;;) {
    await untilReady(redis, batch.signal)
    try {
      const head = await readHeadBytes(redis)
      return head !== null && bytesEqual(head, batch.next)
    } catch (error) {
      if (!isConnectionError(error)) throw error
    }
  }
}

// Versions to be extended, totals to be changed, records past their time, and last the head that they belong to, in one round trip.
async function readForPlan(redis: Redis, steps: readonly Step[], expiredAt: Micros) {
  const touched = touchedVersions(steps)
  const [totals, names, documents, seen, changes, head] = await Promise.all([
    readTotals(redis, touchedTotals(steps)),
    readVersions(redis, 'names', touched.names),
    readVersions(redis, 'documents', touched.documents),
    redis.zrangebyscoreBuffer(KEYS.seen, '-inf', expiredAt, 'LIMIT', 0, EXPIRED_PORTION),
    redis.zrangebyscoreBuffer(KEYS.changesUntil, '-inf', expiredAt, 'LIMIT', 0, EXPIRED_PORTION),
    readHeadBytes(redis),
  ])
  return {
    stored: { names, documents, totals },
    expired: { at: expiredAt, seen, changes },
    head,
  }
}

/** Versions by field; none for a field that is not stored. */
export async function readVersions(
  redis: Redis,
  key: 'names' | 'documents',
  fields: readonly string[],
): Promise<Map<string, Version[]>> {
  if (fields.length === 0) return new Map()
  const values = await redis.hmgetBuffer(KEYS[key], ...fields)
  return new Map(fields.map((field, index) => [field, decodeVersions(values[index])]))
}
