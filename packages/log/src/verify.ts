/** Verifies that each group of the log, from its start to its end, is as the synchronizer signed it. */

import type { Clock } from '@quorumscan/base'
import type { LogPosition, Offset } from '@quorumscan/model'
import type { RedisAddress } from '@quorumscan/redis'
import { openRawGroup } from './chain.ts'
import { lastOffsetOf, openLogConnection, type RawGroup } from './connection.ts'
import { type GroupFault, type LogGenesis, LogGroupError, type SignedGroup } from './group.ts'

/** A part of the log that followers can no longer read. Offsets are inclusive. */
export type LogDamage = {
  readonly from: Offset
  readonly to: Offset
  readonly fault: GroupFault | 'missing'
  /** A sentence for an operator, without the offsets. */
  readonly reason: string
}

export type VerifyLogOptions = {
  readonly redis: RedisAddress
  readonly genesis: LogGenesis
  readonly signal: AbortSignal
  /** The share of one core that is used at most, 0 to 1, by pausing between portions. Default: a whole core. */
  readonly pace?: { readonly clock: Clock; readonly share: number }
  /** Receives each damage when it is found. */
  readonly onDamage?: (damage: LogDamage) => void
}

/** At most 8 MiB at once, some 10 ms of work. */
const GROUPS_PER_READ = 8

/** A position in the log while it is read. */
export type LogCursor = LogPosition & {
  /** The hash of the group before; null: that group is damaged, so that nothing can be compared with it. */
  readonly hash: string | null
}

/**
 * Reads the log from its start to its end at this moment.
 *
 * @throws {LogUnavailableError} If its Redis cannot be reached, or goes down.
 */
export async function verifyLog(options: VerifyLogOptions) {
  const damages: LogDamage[] = []
  let start: Offset | null = null
  let end: LogCursor | null = null
  for await (const step of iterateLog(options)) {
    start ??= step.from
    end = step.cursor
    for (const damage of step.damages) {
      damages.push(damage)
      options.onDamage?.(damage)
    }
  }
  const { offset, recordTime } = end ?? { offset: 0, recordTime: options.genesis.recordTime }
  return {
    /** The first offset of the log. */
    start: start ?? 1,
    /** The offset of the last element, damaged or not; 0 for an empty log. */
    end: offset,
    /** The record time of the last whole group; of the genesis without one. */
    recordTime,
    /** In the order of the log. */
    damages: damages as readonly LogDamage[],
  }
}

/** The log element by element. @throws {LogUnavailableError} As `verifyLog`. */
export async function* iterateLog(options: Omit<VerifyLogOptions, 'onDamage'>) {
  const { genesis, pace, signal } = options
  using connection = await openLogConnection(options.redis, { signal })
  let cursor: LogCursor = { offset: 0, recordTime: genesis.recordTime, hash: genesis.hash }
  for (;;) {
    const startedMs = pace?.clock.monotonicMs() ?? 0
    const read = await connection.range(cursor.offset + 1, GROUPS_PER_READ)
    // Read after the groups: a part that was trimmed before it was read is not missing.
    const start = await connection.start()
    if (start !== null && start.offset > cursor.offset) cursor = { ...cursor, ...start }
    const { offset } = cursor
    for (const raw of read.filter((raw) => lastOffsetOf(raw) > offset)) {
      const step = advanceCursor(cursor, raw, genesis)
      cursor = step.cursor
      yield step
    }
    if (read.length < GROUPS_PER_READ) return
    if (pace !== undefined) {
      const usedMs = pace.clock.monotonicMs() - startedMs
      await pace.clock.delay(usedMs * (1 / pace.share - 1), signal)
    }
  }
}

/**
 * Checks one element of the stream: returns the offset that was expected (`from`), its damages, and where the next
 * element must continue. `group`: null if the element is damaged. Pure.
 */
export function advanceCursor(cursor: LogCursor, raw: RawGroup, genesis: LogGenesis) {
  const { hash } = cursor
  const expected = cursor.offset + 1
  let group: SignedGroup
  try {
    group = openRawGroup(raw, genesis)
    if (group.firstOffset < expected)
      throw new LogGroupError('position', 'it repeats offsets of the previous group')
    if (group.firstOffset === expected && hash !== null && group.previousHash !== hash)
      throw new LogGroupError('chain', 'it names another previous group')
    if ((group.entries[0]?.recordTime ?? 0) <= cursor.recordTime)
      throw new LogGroupError('time', 'its record time does not increase')
  } catch (error) {
    if (!(error instanceof LogGroupError)) throw error
    const to = Math.max(expected, lastOffsetOf(raw))
    const damage = { from: expected, to, fault: error.fault, reason: error.message }
    const after = { ...cursor, offset: to, hash: null }
    return { from: expected, cursor: after, damages: [damage], group: null }
  }
  const reason = `the log continues at ${group.firstOffset}`
  const gap = { from: expected, to: group.firstOffset - 1, fault: 'missing' as const, reason }
  const recordTime = group.entries.at(-1)?.recordTime ?? cursor.recordTime
  const after = { offset: group.lastOffset, recordTime, hash: group.hash }
  const damages = group.firstOffset > expected ? [gap] : []
  return { from: expected, cursor: after, damages, group }
}

/** What an operator can do about any damage. */
export const DAMAGE_ADVICE =
  '`quorumscan log repair` refills it from the groups that the nodes stored; wipe no replica before, because none can be rebuilt.'

/** The damage in a sentence, with its offsets. */
export function describeDamage({ from, to, fault, reason }: LogDamage): string {
  const place = from === to ? `offset ${from}` : `offsets ${from} to ${to}`
  return fault === 'missing'
    ? `The log lacks ${place}: ${reason}.`
    : `The log is damaged at ${place} (${fault}): ${reason}.`
}
