/**
 * The stored replica and its mirror in memory: loading it, writing batches of steps behind the fence.
 * A write whose outcome is unknown is looked up, never guessed (Rule 3).
 */
import { assert, bytesEqual } from '@quorumscan/base'
import type { Micros } from '@quorumscan/model'
import { EMPTY_FRONTIER, type Frontier } from '@quorumscan/verifier/state-tree'
import type { Redis } from 'ioredis'
import { isConnectionError, untilReady } from '../connection.ts'
import { readFrontier } from '../storage/activity-tiles.ts'
import type { Command } from '../storage/commands.ts'
import { decodeHead, encodeHead, type StateMark, type StoredHead } from '../storage/head.ts'
import { HEAD_FIELD, KEYS } from '../storage/keys.ts'
import type { Layout } from '../storage/layout.ts'
import { writeBatch } from '../storage/scripts.ts'
import { createTimeline, decodeInstant, type Timeline } from '../storage/timeline.ts'
import { decodeVersions, type Version } from '../storage/versions.ts'
import { type Plan, planBatch } from './plan.ts'
import {
  planSyntheticEntries,
  type StoredVersions,
  type SyntheticEntry,
  touchedVersions,
} from './plan-versions.ts'
import type { Step } from './step.ts'

/** What the process knows of the stored state; exact after each write. */
export type Mirror = {
  head: StoredHead
  timeline: Timeline
  /** The activity tree at the head. */
  activities: Frontier
}

/** `fenced`: somebody else wrote, or Redis lost its last seconds; nothing was changed, load anew. */
export type WriteOutcome = 'written' | 'fenced'

/** Instants per LRANGE while loading: 240 kB a reply. */
const LOAD_PORTION = 5_000
/** Expired records taken out with each batch: more than one batch adds, so that none pile up. */
export const EXPIRED_PORTION = 1_000

/** null where Redis holds no replica. */
export async function loadMirror(redis: Redis): Promise<Mirror | null> {
  for (;;) {
    const bytes = await redis.hgetBuffer(KEYS.names, HEAD_FIELD)
    if (bytes === null) return null
    const head = decodeHead(bytes)
    const timeline = createTimeline()
    const count = head.offset - head.horizon + 1
    for (let start = 0; start < count; start += LOAD_PORTION) {
      const stop = Math.min(start + LOAD_PORTION, count) - 1
      const members = await redis.lrangeBuffer(KEYS.at, start, stop)
      for (const [index, member] of members.entries())
        timeline.append(decodeInstant(head.horizon + start + index, member))
    }
    const activities = await readFrontier(redis, head.activityCount)
    const after = await redis.hgetBuffer(KEYS.names, HEAD_FIELD)
    // Another writer moved on in between: what was loaded may be of two moments.
    if (after === null || !bytesEqual(bytes, after)) continue
    assert(timeline.at(head.offset) !== undefined, 'the stored history reaches up to the head')
    return { head, timeline, activities }
  }
}

/** Writes the state at offset 0 into an empty Redis. */
export async function writeGenesis(
  redis: Redis,
  genesis: {
    readonly genesisHash: string
    readonly step: Step
    readonly state: StateMark
    readonly synthetic: readonly SyntheticEntry[]
    readonly layout: Layout
    readonly signal: AbortSignal
  },
): Promise<WriteOutcome> {
  const { layout } = genesis
  const documents = touchedVersions([genesis.step]).documents
  const plan = planBatch({
    head: {
      genesisHash: genesis.genesisHash,
      dueHash: layout.dueHash,
      endedCount: 0,
      cleanedCount: 0,
    },
    layout,
    timeline: createTimeline(),
    activities: EMPTY_FRONTIER,
    steps: [genesis.step],
    state: genesis.state,
    stored: { names: new Map(), documents: new Map(documents.map((entity) => [entity, []])) },
    expired: { seen: [], changes: [] },
  })
  return await writeFenced(redis, {
    expected: new Uint8Array(0),
    next: encodeHead(plan.head),
    commands: [...plan.commands, ...planSyntheticEntries(genesis.synthetic)],
    signal: genesis.signal,
  })
}

/** Writes the steps that follow the mirror's head, and moves the mirror on. */
export async function writeSteps(
  redis: Redis,
  mirror: Mirror,
  batch: {
    readonly steps: readonly Step[]
    /** As of the last step; as it is where none is given. */
    readonly state?: StateMark
    /** Records that were there at this record time stay; null for none. */
    readonly held?: Micros | null
    readonly layout: Layout
    readonly signal: AbortSignal
  },
): Promise<WriteOutcome> {
  const { steps, state = mirror.head.state, layout, signal } = batch
  const recordTime = steps.at(-1)?.recordTime ?? mirror.head.recordTime
  const expected = encodeHead(mirror.head)
  const expiredAt = Math.min(recordTime, batch.held ?? recordTime)
  const { stored, expired, head } = await readForPlan(redis, touchedVersions(steps), expiredAt)
  // What was read is of another state than the steps: there is nothing that could be planned from both.
  if (head === null || !bytesEqual(head, expected)) return 'fenced'
  const plan: Plan = planBatch({
    head: mirror.head,
    timeline: mirror.timeline,
    activities: mirror.activities,
    layout,
    steps,
    state,
    stored,
    expired,
  })
  const outcome = await writeFenced(redis, {
    expected,
    next: encodeHead(plan.head),
    commands: plan.commands,
    signal,
  })
  if (outcome === 'written') {
    mirror.head = plan.head
    mirror.activities = plan.activities
    mirror.timeline.dropBelow(plan.head.horizon)
  }
  return outcome
}

/** Whether what is stored is still of this head. */
export async function isStored(redis: Redis, head: StoredHead): Promise<boolean> {
  const stored = await redis.hgetBuffer(KEYS.names, HEAD_FIELD)
  return stored !== null && bytesEqual(stored, encodeHead(head))
}

/** One fenced write. After a lost connection it waits and looks whether it was done. */
export async function writeFenced(
  redis: Redis,
  write: {
    readonly expected: Uint8Array
    readonly next: Uint8Array
    readonly commands: readonly Command[]
    readonly signal: AbortSignal
  },
): Promise<WriteOutcome> {
  try {
    return (await writeBatch(redis, write)).wrote ? 'written' : 'fenced'
  } catch (error) {
    if (!isConnectionError(error)) throw error
  }
  // Not written again as it is: what it was computed from may be of a state that Redis lost.
  for (;;) {
    await untilReady(redis, write.signal)
    try {
      const head = await redis.hgetBuffer(KEYS.names, HEAD_FIELD)
      return head !== null && bytesEqual(head, write.next) ? 'written' : 'fenced'
    } catch (error) {
      if (!isConnectionError(error)) throw error
    }
  }
}

// Versions to be extended, records past their time, and last the head that they belong to, in one round trip.
async function readForPlan(
  redis: Redis,
  touched: { readonly names: readonly string[]; readonly documents: readonly string[] },
  expiredAt: Micros,
): Promise<{
  stored: StoredVersions
  expired: { seen: Buffer[]; changes: Buffer[] }
  head: Buffer | null
}> {
  const [names, documents, seen, changes, head] = await Promise.all([
    readVersions(redis, 'names', touched.names),
    readVersions(redis, 'documents', touched.documents),
    redis.zrangebyscoreBuffer(KEYS.seen, '-inf', expiredAt, 'LIMIT', 0, EXPIRED_PORTION),
    redis.zrangebyscoreBuffer(KEYS.changesUntil, '-inf', expiredAt, 'LIMIT', 0, EXPIRED_PORTION),
    redis.hgetBuffer(KEYS.names, HEAD_FIELD),
  ])
  return { stored: { names, documents }, expired: { seen, changes }, head }
}

/** Versions by field; none for a field that is not stored. */
export async function readVersions(
  redis: Redis,
  key: 'names' | 'documents',
  fields: readonly string[],
): Promise<Map<string, Version[]>> {
  if (fields.length === 0) return new Map()
  const values = await redis.hmgetBuffer(KEYS[key], ...fields)
  return new Map(
    fields.map((field, index) => [field, decodeVersions(values[index] ?? new Uint8Array(0))]),
  )
}
