/** Turns a batch of steps into the commands of one write and the head after it. Pure. */
import { assert, ByteReader, ByteWriter, fromHex, utf8 } from '@quorumscan/base'
import type { ChangeRecord, StateDelta } from '@quorumscan/ledger'
import type { Micros } from '@quorumscan/model'
import type { Frontier } from '@quorumscan/verifier/state-tree'
import { planCompletions } from '../reads/completions.ts'
import { type Command, cutCommand } from '../storage/commands.ts'
import type { StateMark, StoredHead } from '../storage/head.ts'
import { KEYS } from '../storage/keys.ts'
import type { Layout } from '../storage/layout.ts'
import { encodeInstant, type Timeline } from '../storage/timeline.ts'
import { planActivities } from './plan-activities.ts'
import { planContracts } from './plan-contracts.ts'
import { planUpdates } from './plan-updates.ts'
import { planVersions, type StoredVersions } from './plan-versions.ts'
import type { Step } from './step.ts'

export type Plan = {
  readonly commands: readonly Command[]
  readonly head: StoredHead
  readonly activities: Frontier
}

/**
 * Appends the steps to the timeline, whose oldest instant is the horizon of `head`.
 *
 * @param input.expired - Ids of seen entries and changes that may go at the record time of `head`.
 * @param input.state - As of the last step.
 */
export function planBatch(input: {
  readonly head: Pick<StoredHead, 'genesisHash' | 'dueHash' | 'endedCount' | 'cleanedCount'>
  readonly layout: Layout
  readonly timeline: Timeline
  /** The activity tree at `head`. */
  readonly activities: Frontier
  readonly steps: readonly Step[]
  readonly state: StateMark
  readonly stored: StoredVersions
  readonly expired: {
    readonly seen: readonly Uint8Array[]
    readonly changes: readonly Uint8Array[]
  }
}): Plan {
  const { head, timeline, steps, state, expired, layout, stored } = input
  const last = steps.at(-1)
  assert(last !== undefined, 'a batch has a step')
  const activities = planActivities(steps, input.activities)
  const versions = planVersions(steps, { stored, codec: layout.codec })

  let endedCount = head.endedCount
  const instants = steps.map((step, index) => {
    endedCount += versions.endedCounts[index] ?? 0
    return { ...step, endedCount }
  })
  const first = timeline.first()
  for (const instant of instants) timeline.append(instant)
  const horizon = timeline.horizonAt({ ...last, endedCount })

  return {
    commands: [
      ...cutCommand(
        'ZREM',
        KEYS.seen,
        expired.seen.map((id) => [id]),
      ),
      ...cutCommand(
        'ZREM',
        KEYS.changesUntil,
        expired.changes.map((id) => [id]),
      ),
      ...cutCommand(
        'HDEL',
        KEYS.changes,
        expired.changes.map((id) => [id]),
      ),
      ...planContracts(steps, layout),
      ...versions.commands,
      ...activities.commands,
      ...planCompletions(steps),
      ...planUpdates(steps),
      ...planRecords(
        steps.map(({ delta }) => delta),
        last.recordTime,
      ),
      ...cutCommand(
        'RPUSH',
        KEYS.at,
        instants.map((instant) => [encodeInstant(instant)]),
      ),
      ...(horizon > first ? [['LTRIM', KEYS.at, horizon - first, -1] as const] : []),
    ],
    head: {
      genesisHash: head.genesisHash,
      dueHash: head.dueHash,
      offset: last.offset,
      recordTime: last.recordTime,
      historyHash: last.historyHash,
      entryHash: last.entryHash,
      horizon,
      endedCount,
      cleanedCount: head.cleanedCount,
      activityCount: activities.frontier.size,
      state,
    },
    activities: activities.frontier,
  }
}

/** What a change of the state is beside contracts. */
export type RecordDelta = Pick<StateDelta, 'change' | 'seen' | 'allocated'>

/** What is past its time at the end of the batch is not even written. */
export function planRecords(deltas: readonly RecordDelta[], recordTime: Micros): Command[] {
  const changes = deltas.flatMap(({ change }) =>
    change === null || change.record.until <= recordTime ? [] : [change],
  )
  const seen = deltas.flatMap((delta) =>
    delta.seen === null || delta.seen.until <= recordTime ? [] : [delta.seen],
  )
  return [
    ...cutCommand(
      'HSET',
      KEYS.changes,
      changes.map(({ id, record }) => [fromHex(id), encodeChange(record)]),
    ),
    ...cutCommand(
      'ZADD',
      KEYS.changesUntil,
      changes.map(({ id, record }) => [record.until, fromHex(id)]),
    ),
    ...cutCommand(
      'ZADD',
      KEYS.seen,
      seen.map(({ id, until }) => [until, fromHex(id)]),
    ),
    ...cutCommand(
      'ZADD',
      KEYS.hosted,
      deltas.flatMap(({ allocated }) => allocated.map((party) => [0, party])),
    ),
  ]
}

export function encodeChange(record: ChangeRecord): Uint8Array {
  const writer = new ByteWriter()
  writer.unsigned(record.offset)
  writer.unsigned(record.recordTime)
  writer.unsigned(record.until)
  writer.raw(utf8(record.submissionId))
  return writer.finish()
}

export function decodeChange(bytes: Uint8Array): ChangeRecord {
  const reader = new ByteReader(bytes)
  return {
    offset: reader.unsigned(),
    recordTime: reader.unsigned(),
    until: reader.unsigned(),
    submissionId: reader.rest().toString('utf8'),
  }
}
