import { createSystemClock, sha256Hex, systemRandom, utf8 } from '@quorumscan/base'
import { startRedis, untilTrue } from '@quorumscan/testkit'
import { itWithRedis as it, type SharedRedis } from '@quorumscan/testkit/fixtures'
import { describe, expect } from 'vitest'
import { type BlockStore, createBlockStore } from './block-store.ts'
import { encodeGroup, LogGroupError } from './group.ts'
import { LogFencedError } from './log-errors.ts'
import { trimLog } from './trim.ts'

const START = 1_700_000_000_000_000
const appHash = 'cd'.repeat(32)

function setUp(redis: SharedRedis, onProblem: (error: unknown) => void = () => {}) {
  const closing = new AbortController()
  const store = createBlockStore({
    redis: { path: redis.socketPath },
    clock: createSystemClock(),
    random: systemRandom,
    signal: closing.signal,
    onProblem,
  })
  return { store, closing, [Symbol.dispose]: () => store[Symbol.dispose]() }
}

/** The block at this height, of one entry: the offset is the height. */
function block(height: number, text = `entry ${height}`) {
  const bytes = encodeGroup({
    firstOffset: height,
    previousHash: 'ab'.repeat(32),
    entries: [{ recordTime: START + height, bytes: utf8(text) }],
  })
  return [
    { firstOffset: height, lastOffset: height, bytes },
    { height, appHash },
  ] as const
}

async function fill(store: BlockStore, count: number) {
  for (let height = 1; height <= count; height++) await store.append(...block(height))
}

describe('the blocks of a member', () => {
  it('are read with their height and app hash', async ({ redis }) => {
    using one = setUp(redis)
    expect(await one.store.newest()).toBeNull()
    expect(await one.store.newerThan(0)).toEqual([])
    await fill(one.store, 2)
    expect(await one.store.newest()).toMatchObject({
      firstOffset: 2,
      lastOffset: 2,
      height: 2,
      appHash,
      hash: sha256Hex(block(2)[0].bytes),
    })
  })

  it('are read from the newest back to a record time, in several portions', async ({ redis }) => {
    using one = setUp(redis)
    await fill(one.store, 70)
    const heights = async (recordTime: number) =>
      (await one.store.newerThan(recordTime)).map(({ height }) => height)
    expect(await heights(START + 69)).toEqual([70])
    expect(await heights(START + 3)).toEqual(Array.from({ length: 67 }, (_, index) => 70 - index))
    expect(await heights(0)).toHaveLength(70)
  })

  it('are stored once, however often one is appended', async ({ redis }) => {
    using one = setUp(redis)
    await one.store.append(...block(1))
    await one.store.append(...block(1))
    expect(await one.store.newerThan(0)).toHaveLength(1)
  })

  it('are not appended to a log that ends elsewhere', async ({ redis }) => {
    using one = setUp(redis)
    await fill(one.store, 2)
    // The other process has one block less, as after the loss of the end of the log.
    await expect(one.store.append(...block(2, 'other'))).rejects.toThrow(LogFencedError)
    await expect(one.store.append(...block(4))).rejects.toThrow('not end at 3')
  })

  it('wait while Redis is down or full', async () => {
    await using redis = await startRedis(['--appendonly', 'yes'])
    const problems: unknown[] = []
    using one = setUp(redis, (error) => problems.push(error))
    await one.store.append(...block(1))
    await redis.kill()
    const added = one.store.append(...block(2))
    await untilTrue('a problem', () => problems.length > 0)
    await redis.restart()
    await added

    const client = redis.connect()
    await client.config('SET', 'maxmemory-policy', 'noeviction', 'maxmemory', '1')
    problems.length = 0
    const late = one.store.append(...block(3))
    await untilTrue('a problem', () => problems.length > 0)
    await client.config('SET', 'maxmemory', '0')
    client.disconnect()
    await late
    expect(await one.store.newerThan(0)).toHaveLength(3)
  })

  it('stop waiting when the signal aborts', async () => {
    await using redis = await startRedis()
    await redis.kill()
    using one = setUp(redis)
    const added = one.store.append(...block(1))
    one.closing.abort(new Error('closed'))
    await expect(added).rejects.toThrow()
    await redis.restart()
  })

  it('are distinguished from groups without a seal', async ({ redis }) => {
    using one = setUp(redis)
    const client = redis.connect()
    await client.xadd('log', '1-0', 'g', Buffer.from(block(1)[0].bytes), 's', 'no seal')
    client.disconnect()
    await expect(one.store.newest()).rejects.toThrow('no seal')
  })

  it('are found by offset; `agreedAt` finds the last one with entries', async ({ redis }) => {
    using one = setUp(redis)
    expect([await one.store.blockAt(1), await one.store.agreedAt(1)]).toEqual([null, null])
    // Blocks of two entries; the three blocks after the 4th, 8th, … keep its app hash.
    let agreed = appHash
    for (let height = 1; height <= 70; height++) {
      const firstOffset = 2 * height - 1
      const bytes = encodeGroup({
        firstOffset,
        previousHash: 'ab'.repeat(32),
        entries: [0, 1].map((index) => ({
          recordTime: START + firstOffset + index,
          bytes: utf8(''),
        })),
      })
      if (height % 4 === 0) agreed = sha256Hex(bytes)
      await one.store.append(
        { firstOffset, lastOffset: firstOffset + 1, bytes },
        { height, appHash: agreed },
      )
    }
    const heightsAt = async (offset: number) => [
      (await one.store.blockAt(offset))?.height,
      (await one.store.agreedAt(offset))?.height,
    ]
    expect(await heightsAt(2)).toEqual([1, undefined])
    expect(await heightsAt(7)).toEqual([4, 4])
    expect(await heightsAt(14)).toEqual([7, 4])
    expect(await heightsAt(140)).toEqual([70, 68])
    expect(await heightsAt(141)).toEqual([undefined, undefined])
    const before = { offset: 100, recordTime: START + 1000 }
    const address = { path: redis.socketPath }
    await trimLog({ redis: address, before, signal: one.closing.signal })
    expect(await heightsAt(98)).toEqual([undefined, undefined])
    expect(await heightsAt(99)).toEqual([50, undefined])
    expect(await heightsAt(104)).toEqual([52, 52])
  })

  it('are all replaced by the block of a sync anchor', async ({ redis }) => {
    using one = setUp(redis)
    await fill(one.store, 3)
    const [{ bytes }, seal] = block(40)
    expect(await one.store.beginWith(bytes, seal)).toMatchObject({ height: 40, lastOffset: 40 })
    expect(await one.store.newest()).toMatchObject({ height: 40, appHash })
    expect(await one.store.blockAt(3)).toBeNull()
    await one.store.append(...block(41))
    expect((await one.store.newerThan(0)).map(({ height }) => height)).toEqual([41, 40])
    const before = { offset: 0, recordTime: 0 }
    const address = { path: redis.socketPath }
    expect(await trimLog({ redis: address, before, signal: one.closing.signal })).toEqual({
      offset: 39,
      hash: 'ab'.repeat(32),
    })
    await expect(one.store.beginWith(utf8('no group'), seal)).rejects.toThrow(LogGroupError)
    expect(await one.store.newest()).toMatchObject({ height: 41 })
  })
})
