import { utf8 } from '@quorumscan/base'
import { itWithRedis } from '@quorumscan/testkit/fixtures'
import { describe, expect } from 'vitest'
import type { SignedGroup } from './group.ts'
import {
  createGroupStore,
  RECENT_BYTES_MAX,
  readRecentGroups,
  readStoredEnd,
} from './recent-groups.ts'
import { chainOf, START_MICROS } from './testing/signed-groups.ts'

const it = itWithRedis
  .extend(
    'keeperOf',
    ({ redis }) =>
      (problems: Error[] = [], memoryBytesMax: number | null = null) =>
        createGroupStore({
          redis: { path: redis.socketPath },
          memoryBytesMax: () => memoryBytesMax,
          onProblem: (error) => problems.push(error),
        }),
  )
  .extend('read', ({ redis }) => async (applied: number) => [
    ...(await readRecentGroups({ redis: { path: redis.socketPath }, applied })).values(),
  ])

const groupsOf = (label: string, count = 5): SignedGroup[] =>
  chainOf(
    Array.from({ length: 2 * count }, (_, index) => ({
      recordTime: START_MICROS + 1 + index,
      bytes: utf8(`${label} ${index}`),
    })),
    Array.from({ length: count }, () => 2),
  )
const bytesOf = (groups: readonly { readonly bytes: Uint8Array }[]) =>
  groups.map(({ bytes }) => Buffer.from(bytes).toString('hex'))

describe('the newest groups that a follower keeps', () => {
  it('are returned as signed, up to the head of its replica', async ({ keeperOf, read }) => {
    await using keeper = keeperOf()
    const groups = groupsOf('entry')
    await keeper.store(groups.slice(0, 2))
    await keeper.store(groups.slice(2))
    const kept = await read(7)
    expect(bytesOf(kept)).toEqual(bytesOf(groups.slice(0, 4)))
    expect(kept.map(({ signature }) => signature)).toEqual(
      groups.slice(0, 4).map(({ signature }) => signature),
    )
    expect(kept[3]).toMatchObject({ firstOffset: 7, lastOffset: 8 })
  })

  it('give the end of the followed log; null if none are stored', async ({ redis, keeperOf }) => {
    const address = { path: redis.socketPath }
    expect(await readStoredEnd(address)).toBeNull()
    await using keeper = keeperOf()
    await keeper.store(groupsOf('entry', 3))
    expect(await readStoredEnd(address)).toEqual({ offset: 6, recordTime: START_MICROS + 6 })
  })

  it('continue after those of the previous process, without repeated groups', async ({
    keeperOf,
    read,
  }) => {
    const groups = groupsOf('entry')
    for (const portion of [groups.slice(0, 3), groups.slice(2)]) {
      await using keeper = keeperOf()
      await keeper.store(portion)
    }
    expect(bytesOf(await read(10))).toEqual(bytesOf(groups))
  })

  it('are all stored, even if another process stores some too', async ({ keeperOf, read }) => {
    const problems: Error[] = []
    await using keeper = keeperOf(problems)
    await using other = keeperOf()
    const groups = groupsOf('entry')
    await keeper.store(groups.slice(0, 1))
    await other.store(groups.slice(0, 3))
    await keeper.store(groups.slice(1, 2))
    await keeper.store(groups.slice(2))
    expect(problems).toHaveLength(1)
    expect(bytesOf(await read(10))).toEqual(bytesOf(groups))
  })

  it('replace earlier groups that the synchronizer cut off', async ({ keeperOf, read }) => {
    await using keeper = keeperOf()
    const [first, ...others] = groupsOf('other') as [SignedGroup, ...SignedGroup[]]
    await keeper.store(groupsOf('entry', 1))
    await keeper.store([first, ...others])
    expect(bytesOf(await read(10))).toEqual(bytesOf([first, ...others]))
  })

  it('are skipped if they are damaged', async ({ keeperOf, read }) => {
    await using keeper = keeperOf()
    const groups = groupsOf('entry')
    await keeper.store([
      ...groups.slice(0, 2),
      { ...(groups[2] as SignedGroup), bytes: utf8('damaged') },
      ...groups.slice(3),
    ])
    expect((await read(10)).map(({ firstOffset }) => firstOffset)).toEqual([1, 3, 7, 9])
  })

  it('take no more memory than their bound: the oldest are deleted', async ({
    keeperOf,
    redis,
  }) => {
    await using keeper = keeperOf()
    const [group] = groupsOf('entry') as [SignedGroup]
    const bytes = new Uint8Array(2 ** 20)
    const count = RECENT_BYTES_MAX / bytes.byteLength + 6
    for (let done = 0; done < count; done++) await keeper.store([{ ...group, bytes }])
    const client = redis.connect()
    expect(await client.xlen('log:recent')).toBe(RECENT_BYTES_MAX / bytes.byteLength + 1)
    client.disconnect()
  })

  it('take an eighth of the memory of their Redis, at most', async ({ keeperOf, redis }) => {
    await using keeper = keeperOf([], 64 * 2 ** 20)
    const [group] = groupsOf('entry', 1)
    expect.assert(group !== undefined)
    const bytes = new Uint8Array(2 ** 20)
    for (let done = 0; done < 12; done++) await keeper.store([{ ...group, bytes }])
    const client = redis.connect()
    expect(await client.xlen('log:recent')).toBe(9)
    client.disconnect()
  })

  it('stop no follower: groups that its Redis refuses are reported and skipped', async ({
    keeperOf,
    redis,
    read,
  }) => {
    const problems: Error[] = []
    await using keeper = keeperOf(problems)
    const groups = groupsOf('entry')
    const client = redis.connect()
    await client.config('SET', 'maxmemory', '1')
    await keeper.store(groups.slice(0, 1))
    expect(problems).toMatchObject([{ message: expect.stringMatching(/^OOM/) }])
    await client.config('SET', 'maxmemory', '512mb')
    client.disconnect()
    await keeper.store(groups.slice(1))
    expect(bytesOf(await read(10))).toEqual(bytesOf(groups.slice(1)))
  })
})
