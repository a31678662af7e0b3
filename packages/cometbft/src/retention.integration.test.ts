import { createSystemClock, systemRandom, utf8 } from '@quorumscan/base'
import { createBlockStore } from '@quorumscan/log'
import { startRedis } from '@quorumscan/testkit'
import { formatInstant } from '@quorumscan/verifier'
import { describe, expect, it } from 'vitest'
import { genesisTip, orderBlock, type Tip } from './blocks.ts'
import { EngineUnavailableError } from './engine-rpc.ts'
import { createRetention, firstRetainedHeight } from './retention.ts'

const START = 1_700_000_000_000_000
const SECOND = 1_000_000

describe('the first height to retain', () => {
  it.each([
    ['the first, where nothing is expired', 1, 100, 0, 1],
    ['the one after the expired heights', 1, 100, 37, 38],
    ['the last, where all before are expired', 1, 100, 1000, 100],
    ['the start of an empty range', 7, 7, 1000, 7],
    ['the start, if the end lies before it', 7, -5, 1000, 7],
  ])('is %s', async (_, from, to, lastExpired, expected) => {
    const isExpired = async (height: number) => {
      expect(height).toBeGreaterThanOrEqual(from)
      expect(height).toBeLessThan(to)
      return height <= lastExpired
    }
    expect(await firstRetainedHeight({ from, to, isExpired })).toBe(expected)
  })

  it('near the start is found with few reads, whatever the end is', async () => {
    let asked = 0
    const isExpired = async (height: number) => {
      asked++
      return height <= 1005
    }
    expect(await firstRetainedHeight({ from: 1001, to: 1_000_000, isExpired })).toBe(1006)
    expect(asked).toBeLessThan(8)
  })
})

/** A member whose engine has a block each second; those at multiples of three are empty. */
async function setUp(options: { readonly height: number; readonly evidenceSeconds?: number }) {
  const redis = await startRedis()
  const address = { path: redis.socketPath }
  const closing = new AbortController()
  const store = createBlockStore({
    redis: address,
    clock: createSystemClock(),
    random: systemRandom,
    signal: closing.signal,
    onProblem: () => {},
  })
  let tip: Tip = genesisTip({ hash: 'ab'.repeat(32), recordTime: START })
  const groups: Uint8Array[] = [new Uint8Array(0)]
  const grow = async (to: number) => {
    while (tip.height < to) {
      const height = tip.height + 1
      const entries = height % 3 === 0 ? [] : [utf8(`entry ${height}`)]
      const made = orderBlock(tip, { height, timeMicros: START + height * SECOND, entries })
      await store.append(made.group, made.tip)
      groups.push(made.group.bytes)
      tip = made.tip
    }
  }
  await grow(options.height)
  let isAway = false
  const rpc = {
    async call(method: string, { height = '' }: Readonly<Record<string, unknown>> = {}) {
      if (isAway) throw new EngineUnavailableError('away')
      const time = formatInstant(START + Number(height || tip.height) * SECOND)
      if (method === 'header') return { header: { time } }
      if (method === 'commit')
        return { signed_header: { commit: { block_id: { hash: `AB${height}` } } } }
      return {
        sync_info: {
          catching_up: false,
          earliest_block_height: '1',
          latest_block_height: String(tip.height),
          latest_block_time: time,
        },
      }
    },
  }
  const retention = createRetention({
    store,
    redis: address,
    rpc,
    tip: () => tip,
    evidenceAge: { micros: (options.evidenceSeconds ?? 4) * SECOND, blocks: 4 },
  })
  return {
    retention,
    store,
    grow,
    groups,
    loseEngine() {
      isAway = true
    },
    /** A snapshot of the state is at this offset, and nothing before it is to be kept. */
    trim: (offset: number) =>
      retention.trim({ offset, recordTime: START + 1000 * SECOND }, closing.signal),
    async [Symbol.asyncDispose]() {
      closing.abort()
      store[Symbol.dispose]()
      await redis[Symbol.asyncDispose]()
    },
  }
}

describe('a member', () => {
  it('offers the last block with entries up to a snapshot, once two more follow', async () => {
    await using one = await setUp({ height: 10 })
    await one.trim(9) // The block at height 9 is empty.
    const { appHash = '' } = (await one.store.blockAt(8)) ?? {}
    expect(one.retention.anchors()).toMatchObject([{ height: 8, appHash, blockHash: 'ab8' }])
    expect(await one.retention.groupOf(8)).toEqual(one.groups[8])
    expect(await one.retention.groupOf(7)).toBeNull()
    await one.trim(10)
    expect(one.retention.anchors()).toMatchObject([{ height: 8 }])
    await one.grow(12)
    await one.trim(10)
    expect(one.retention.anchors()).toMatchObject([{ height: 10 }, { height: 8 }])
  })

  it('does not trim its sync anchors', async () => {
    await using one = await setUp({ height: 20 })
    expect(await one.trim(0)).toBeNull()
    expect(await one.trim(9)).toMatchObject({ offset: 7 })
    expect(await one.trim(17)).toMatchObject({ offset: 7 })
    await one.grow(31)
    expect(await one.trim(29)).toMatchObject({ offset: 16 })
    expect(one.retention.anchors().map(({ height }) => height)).toEqual([29, 17])
  })

  it.each([
    ['below its snapshot', 4, 60, 8],
    ['except those that evidence may need, by time', 55, 60, 5],
    ['except those that evidence may need, by number', 1, 10, 6],
  ])('lets its engine delete blocks %s', async (_, evidenceSeconds, height, expected) => {
    await using one = await setUp({ height, evidenceSeconds })
    expect(one.retention.height()).toBe(0)
    await one.trim(8)
    expect(one.retention.height()).toBe(expected)
  })

  it('deletes nothing while its engine does not answer', async () => {
    await using one = await setUp({ height: 20 })
    one.loseEngine()
    await expect(one.trim(9)).rejects.toThrow('away')
    expect((await one.store.blockAt(1))?.height).toBe(1)
    expect([one.retention.height(), one.retention.anchors()]).toEqual([0, []])
  })
})
