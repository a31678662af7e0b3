/** A whole log, read out of its Redis and written into an empty one: for backups. */

import type { LogPosition, Offset } from '@quorumscan/model'
import { chainStart, extendChain, openRawGroup } from './chain.ts'
import { idOf, openLogConnection, type RawGroup } from './connection.ts'
import { LogGroupError, openGroup, type SignedGroup } from './group.ts'
import { describeDamage, iterateLog, type VerifyLogOptions } from './verify.ts'

/** Bytes of a group and the signature that proves it. */
export type ProvenGroup = Pick<SignedGroup, 'bytes' | 'signature'>

type Options = Pick<VerifyLogOptions, 'redis' | 'genesis' | 'signal'>

/** At most 8 MiB at once. */
const GROUPS_PER_WRITE = 8

/**
 * Reads and verifies each group of the log, up to the group that is the newest at the call. The writer may append meanwhile.
 *
 * @throws {LogGroupError} If the log is damaged, or trimmed before it was read: then reading it again helps.
 * @throws {LogUnavailableError}
 */
export async function* readWholeLog(options: Options): AsyncGenerator<SignedGroup> {
  const connection = await openLogConnection(options.redis, options)
  const newest = await connection.newest().finally(() => connection.close())
  if (newest === null) return
  const { lastOffset } = openRawGroup(newest, options.genesis)
  let next: Offset | null = null
  for await (const { from, damages, group } of iterateLog(options)) {
    const [damage] = damages
    if (damage !== undefined || group === null)
      throw new LogGroupError('chain', damage === undefined ? '' : describeDamage(damage))
    if (from !== (next ?? from))
      throw new LogGroupError('position', 'the log was trimmed while it was read')
    yield group
    next = group.lastOffset + 1
    if (group.lastOffset >= lastOffset) return
  }
}

/**
 * Writes groups in their order into an empty log, each verified as a follower would; resolves when they are on disk. The
 * first group may have any offset, as in a trimmed log. `more`: other groups in any order. Those that continue the log
 * are written.
 *
 * @returns The end of the log.
 * @throws {LogGroupError} If a group is not the next, or is not signed, or the log is not empty.
 * @throws {LogUnavailableError}
 */
export async function writeWholeLog(
  { redis, genesis, signal }: Options,
  groups: AsyncIterable<ProvenGroup>,
  more: Iterable<ProvenGroup & Pick<SignedGroup, 'firstOffset'>>,
): Promise<LogPosition> {
  using connection = await openLogConnection(redis, { signal })
  if ((await connection.newest()) !== null)
    throw new LogGroupError('position', 'this Redis already holds a log')
  let end = chainStart(genesis)
  let portion: RawGroup[] = []
  const flush = async () => {
    await connection.add(portion)
    portion = []
  }
  const add = async ({ bytes, signature }: ProvenGroup) => {
    const group = openGroup({ bytes, signature }, genesis)
    if (end.group === null && group.firstOffset > 1) {
      end = { ...end, offset: group.firstOffset - 1, hash: group.previousHash }
      await connection.trim(end)
    }
    end = extendChain(end, group)
    portion.push({ id: idOf(end.offset), bytes, signature })
    if (portion.length === GROUPS_PER_WRITE) await flush()
  }
  for await (const group of groups) await add(group)
  const next = new Map([...more].map((group) => [group.firstOffset, group]))
  for (;;) {
    const group = next.get(end.offset + 1)
    if (group === undefined) break
    await add(group)
  }
  await flush()
  return end
}
