import { utf8 } from '@quorumscan/base'
import { describe, expect, it } from 'vitest'
import type { SignedGroup } from './group.ts'
import { appendAll, startLogRedis } from './testing/log-redis.ts'
import { chainOf, genesis, never, START_MICROS } from './testing/signed-groups.ts'
import { advanceCursor, describeDamage, verifyLog } from './verify.ts'

const entries = Array.from({ length: 30 }, (_, index) => ({
  recordTime: START_MICROS + 1 + index,
  bytes: utf8(`entry ${index}`),
}))
const sizes = entries.map(() => 2)

/** Groups of two entries each: offsets 1 and 2, 3 and 4, … */
async function verify(change: (groups: SignedGroup[]) => void) {
  await using log = await startLogRedis()
  const connection = await log.connection()
  const groups = chainOf(entries, sizes)
  change(groups)
  let end = 0
  for (const group of groups) {
    if (!(await connection.append(group, end))) throw new Error('fenced')
    end = group.lastOffset
  }
  connection.close()
  return await verifyLog({ redis: log.address, genesis, signal: never })
}

function flip(groups: SignedGroup[], index: number, at: number): void {
  const group = groups[index] as SignedGroup
  const bytes = new Uint8Array(group.bytes)
  for (let byte = at; byte < at + 4; byte++) bytes[byte] = (bytes[byte] ?? 0) ^ 0xff
  groups[index] = { ...group, bytes }
}

describe('verifying the log', () => {
  it('finds no damage in the log of a synchronizer', async () => {
    expect(await verify(() => {})).toEqual({
      start: 1,
      end: 30,
      recordTime: START_MICROS + 30,
      damages: [],
    })
  })

  it('finds no damage in an empty log', async () => {
    await using log = await startLogRedis()
    expect(await verifyLog({ redis: log.address, genesis, signal: never })).toMatchObject({
      end: 0,
      damages: [],
    })
  })

  it('reports the offsets of a damaged entry, and no others', async () => {
    const { end, damages } = await verify((groups) => flip(groups, 3, 64))
    expect(end).toBe(30)
    expect(damages).toMatchObject([{ from: 7, to: 8, fault: 'signature' }])
    expect(damages.map(describeDamage)).toEqual([
      expect.stringMatching(/^The log is damaged at offsets 7 to 8 \(signature\): .*\.$/),
    ])
  })

  it.each([
    ['repeats offsets', { offset: 3, recordTime: START_MICROS }, 'position'],
    ['does not advance record time', { offset: 2, recordTime: START_MICROS + 3 }, 'time'],
  ])('finds a well-formed group that %s', (_, { offset, recordTime }, fault) => {
    const group = chainOf(entries, sizes)[1] as SignedGroup
    const cursor = { offset, recordTime, hash: null }
    expect(advanceCursor(cursor, { ...group, id: '4-0' }, genesis)).toMatchObject({
      damages: [{ from: offset + 1, to: 4, fault }],
      group: null,
    })
  })

  it('continues after a group that is malformed', async () => {
    const { damages } = await verify((groups) => {
      flip(groups, 0, 0)
      flip(groups, 14, 8)
    })
    expect(damages).toMatchObject([
      { from: 1, to: 2, fault: 'malformed' },
      { from: 29, to: 30, fault: 'malformed' },
    ])
  })

  it('reports missing offsets', async () => {
    const { damages } = await verify((groups) => groups.splice(2, 2))
    expect(damages).toMatchObject([{ from: 5, to: 8, fault: 'missing' }])
    expect(damages.map(describeDamage)).toEqual([
      'The log lacks offsets 5 to 8: the log continues at 9.',
    ])
  })

  it('finds a signed group that belongs to another history', async () => {
    const other = chainOf(
      entries.map((entry) => ({ ...entry, bytes: utf8('other') })),
      sizes,
    )
    const { damages } = await verify((groups) => groups.splice(5, 1, other[5] as SignedGroup))
    // If two groups do not fit, the group after them shows which one is wrong.
    expect(damages).toMatchObject([{ from: 11, to: 12, fault: 'chain' }])
  })

  it('pauses so that it uses at most its share of the time', async () => {
    await using log = await startLogRedis()
    const connection = await log.connection()
    await appendAll(connection, chainOf(entries, sizes))
    connection.close()
    let nowMs = 0
    let restedMs = 0
    const clock = {
      nowMicros: () => 0,
      // Each reading of the clock is a millisecond later: a portion takes 1 ms.
      monotonicMs: () => nowMs++,
      delay: async (ms: number) => {
        restedMs += ms
      },
    }
    const redis = log.address
    await verifyLog({ redis, genesis, signal: never, pace: { clock, share: 0.02 } })
    expect(restedMs).toBe(49)
  })
})
