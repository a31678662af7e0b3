/** How groups follow each other. Pure. */
import type { LogPosition } from '@quorumscan/model'
import { idOf, type RawGroup } from './connection.ts'
import { type LogGenesis, LogGroupError, openGroup, type SignedGroup } from './group.ts'

/** The end of the part of the log that was verified. */
export type ChainEnd = LogPosition & {
  /** The hash of the last group, or of the genesis. */
  readonly hash: string
  /** Null at offset 0. */
  readonly group: SignedGroup | null
}

export function chainStart(genesis: LogGenesis): ChainEnd {
  return { offset: 0, recordTime: genesis.recordTime, hash: genesis.hash, group: null }
}

/** The end that a verified group makes. */
export function chainEndOf(group: SignedGroup): ChainEnd {
  const last = group.entries.at(-1)
  if (last === undefined) throw new LogGroupError('malformed', 'a group without entries')
  return { offset: last.offset, recordTime: last.recordTime, hash: group.hash, group }
}

/**
 * Verifies an element of the stream on its own: form, signature, id.
 *
 * @throws {LogGroupError}
 */
export function openRawGroup(raw: RawGroup, genesis: LogGenesis): SignedGroup {
  const group = openGroup(raw, genesis)
  if (raw.id !== idOf(group.lastOffset))
    throw new LogGroupError(
      'position',
      `the group that ends at ${group.lastOffset} lies at ${raw.id}`,
    )
  return group
}

/**
 * The end after `group`, which must follow gaplessly, name the previous group, and be later.
 *
 * @throws {LogGroupError} `position`, `chain` or `time`.
 */
export function extendChain(end: ChainEnd, group: SignedGroup): ChainEnd {
  if (group.firstOffset !== end.offset + 1)
    throw new LogGroupError(
      'position',
      `expected a group at offset ${end.offset + 1}, found one at ${group.firstOffset}`,
    )
  if (group.previousHash !== end.hash)
    throw new LogGroupError(
      'chain',
      `the group at ${group.firstOffset} names another previous group than the one read`,
    )
  if ((group.entries[0]?.recordTime ?? 0) <= end.recordTime)
    throw new LogGroupError('time', `record time does not increase at ${group.firstOffset}`)
  return chainEndOf(group)
}
