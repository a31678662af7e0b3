/** Turns a batch of steps into the commands of one write and the head after it. Pure. */
import { assert, fromHex } from '@quorumscan/base'
import type { Micros } from '@quorumscan/model'
import type { Frontier } from '@quorumscan/verifier/state-tree'
import { putChange } from './change-records.ts'
import { createGatheredCommands } from './commands.ts'
import { planCompletions } from './completions.ts'
import type { StateMark, StoredHead } from './head.ts'
import { KEYS } from './keys.ts'
import type { Layout } from './layout.ts'
import { planContracts } from './plan-contracts.ts'
import { planActivities, planUpdates } from './plan-histories.ts'
import { planVersions, type StoredVersions } from './plan-versions.ts'
import type { Step } from './step.ts'
import { encodeTimelineEntry, type Timeline } from './timeline.ts'
import type { Totals } from './totals.ts'

/**
 * Appends the steps to the timeline, whose oldest entry is the horizon of `head`.
 *
 * @param input.expired - Seen entries and changes up to `at` may go: the ids of some that are stored. A snapshot of an
 *   earlier step has those of the steps that its record time is before.
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
  readonly stored: StoredVersions & { readonly totals: Totals }
  readonly expired: {
    readonly at: Micros
    readonly seen: readonly Uint8Array[]
    readonly changes: readonly Uint8Array[]
  }
}) {
  const { head, timeline, steps, state, expired, layout, stored } = input
  const last = steps.at(-1)
  assert(last !== undefined, 'a batch has a step')
  const commands = createGatheredCommands()
  for (const id of expired.seen) commands.add('ZREM', KEYS.seen, id)
  for (const id of expired.changes) {
    commands.add('ZREM', KEYS.changesUntil, id)
    commands.add('HDEL', KEYS.changes, id)
  }
  planContracts(commands, steps, { layout, totals: stored.totals })
  const endedCounts = planVersions(commands, steps, { stored, codec: layout.codec })
  const activities = planActivities(commands, steps, input.activities)
  planCompletions(commands, steps)
  planUpdates(commands, steps)
  // A record that may go already is not even written.
  for (const { delta } of steps) {
    const { changes, seen, allocated } = delta
    for (const { id, record } of changes)
      if (record.until > expired.at) putChange(commands, fromHex(id), record)
    if (seen !== null && seen.until > expired.at)
      commands.add('ZADD', KEYS.seen, seen.until, fromHex(seen.id))
    for (const party of allocated) commands.add('ZADD', KEYS.hosted, 0, party)
  }

  let endedCount = head.endedCount
  const first = timeline.first()
  for (const [index, step] of steps.entries()) {
    endedCount += endedCounts[index] ?? 0
    const entry = { ...step, endedCount }
    timeline.append(entry)
    commands.add('RPUSH', KEYS.at, encodeTimelineEntry(entry))
  }
  const horizon = timeline.horizonAt({ ...last, endedCount })
  if (horizon > first) commands.addWhole('LTRIM', KEYS.at, horizon - first, -1)

  const { offset, recordTime, historyHash, entryHash } = last
  const position = { offset, recordTime, historyHash, entryHash, horizon, state }
  const counts = { endedCount, activityCount: activities.size }
  return { commands, head: { ...head, ...position, ...counts }, activities }
}
