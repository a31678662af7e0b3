import { setImmediate } from 'node:timers/promises'
import { createManualClock } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { pollPeers } from './repeat.ts'

const PEERS = ['sv-1', 'sv-2'].map((name) => ({ name, url: `https://${name}.example` }))
const EVERY_MS = 500

/** Peers that answer with the number of the round, unless they are away. */
async function setUp(isDue?: (sinceMs: number) => boolean) {
  const clock = createManualClock(0)
  const away = new Set<string>()
  let round = 0
  const poll = pollPeers({
    peers: PEERS,
    clock,
    everyMs: EVERY_MS,
    ...(isDue && { isDue }),
    async read({ name }) {
      if (name === 'sv-1') round++
      if (away.has(name)) throw new Error('no answer')
      return round
    },
  })
  await setImmediate() // The first round.
  return { clock, away, poll }
}

describe('pollPeers', () => {
  it('keeps the last answer of each peer, its time, and if it still answers', async () => {
    const { clock, away, poll } = await setUp()
    away.add('sv-2')
    await clock.advance(2 * EVERY_MS)
    expect([...poll.latest]).toEqual([
      ['sv-1', { value: 3, atMs: 2 * EVERY_MS, isCurrent: true }],
      ['sv-2', { value: 1, atMs: 0, isCurrent: false }],
    ])
    away.delete('sv-2')
    await clock.advance(EVERY_MS)
    expect(poll.latest.get('sv-2')).toEqual({ value: 4, atMs: 3 * EVERY_MS, isCurrent: true })
    await poll[Symbol.asyncDispose]()
  })

  it('has no answer of a peer that never answered', async () => {
    const { away, clock, poll } = await setUp(() => true)
    expect(poll.latest.size).toBe(2)
    await poll[Symbol.asyncDispose]()
    away.add('sv-1')
    const other = pollPeers({
      peers: PEERS,
      clock,
      everyMs: EVERY_MS,
      read: () => Promise.reject(new Error()),
    })
    await setImmediate()
    expect(other.latest.size).toBe(0)
    await other[Symbol.asyncDispose]()
  })

  it('begins a round only when it is due', async () => {
    const { clock, poll } = await setUp((sinceMs) => sinceMs >= 3 * EVERY_MS)
    const roundAt = async (ms: number) => {
      await clock.advance(ms - clock.monotonicMs())
      return poll.latest.get('sv-1')?.value
    }
    expect([
      await roundAt(0),
      await roundAt(1499),
      await roundAt(1500),
      await roundAt(3000),
    ]).toEqual([1, 1, 2, 3])
    await poll[Symbol.asyncDispose]()
  })
})
