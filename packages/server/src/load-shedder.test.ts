import { setImmediate as nextTurn } from 'node:timers/promises'
import { ScanError } from '@quorumscan/errors'
import { describe, expect, it } from 'vitest'
import { createLoadShedder } from './load-shedder.ts'

function create() {
  let nowMs = 0
  const shedder = createLoadShedder({ monotonicMs: () => nowMs })
  const started: number[] = []
  const refused: number[] = []
  const pass = (ms: number) => {
    nowMs += ms
  }
  const enqueue = (
    name: number,
    {
      ms = 0,
      isPeer = false,
      isProbe = false,
      isGone = (): boolean => false,
      unreadSinceMs = null as number | null,
    } = {},
  ) =>
    shedder.enqueue({
      ...{ isPeer, isProbe, isGone, unreadSinceMs },
      start(refusal) {
        ;(refusal === null ? started : refused).push(name)
        pass(ms)
      },
    })
  return {
    ...{ shedder, started, refused, pass, enqueue },
    /** Requests whose handlers take so long. */
    enqueueSome(count: number, ms: number): void {
      for (let name = 0; name < count; name++) enqueue(name, { ms })
    },
    async turns(count: number): Promise<void> {
      for (let turn = 0; turn < count; turn++) await nextTurn()
    },
    /** How many units are admitted, one by one, in addition to those in progress; all are given back. */
    room(): number {
      let count = 0
      for (;;) {
        try {
          shedder.assertRoom({ isPeer: false })
        } catch {
          break
        }
        shedder.begin(1)
        count++
      }
      shedder.begin(-count)
      return count
    },
  }
}

describe('the queue', () => {
  it('a turn starts 10 ms of requests, in the order in which they arrived', async () => {
    const { started, enqueueSome, turns } = create()
    enqueueSome(5, 4)
    expect(started).toEqual([])
    await turns(1)
    expect(started).toEqual([0, 1, 2])
    await turns(1)
    expect(started).toEqual([0, 1, 2, 3, 4])
  })

  it('one probe a turn goes first, others wait for the next turn', async () => {
    const { started, enqueue, enqueueSome, turns } = create()
    enqueueSome(3, 10)
    for (const probe of [101, 102]) enqueue(probe, { isProbe: true })
    await turns(3)
    expect(started).toEqual([101, 0, 102, 1, 2])
  })

  it('a request whose client has left is not started', async () => {
    const { started, enqueue, turns } = create()
    enqueue(1, { isGone: () => true })
    enqueue(2)
    await turns(1)
    expect(started).toEqual([2])
  })

  it('while connections arrive, turns start nothing for 40 of 50 ms', async () => {
    const { shedder, started, enqueueSome, turns, pass } = create()
    enqueueSome(2, 10)
    for (let count = 0; count < 5; count++) {
      shedder.noteConnection()
      await turns(1)
      pass(8)
    }
    expect(started).toEqual([])
    shedder.noteConnection()
    await turns(1)
    expect(started).toEqual([0])
    shedder.noteConnection()
    await turns(1)
    expect(started).toEqual([0])
    // No connection arrived in this turn.
    await turns(1)
    expect(started).toEqual([0, 1])
  })

  it('a request is refused after waiting 1.75 s, of a peer 2 s, a probe never', async () => {
    const { started, refused, enqueue, enqueueSome, turns } = create()
    enqueueSome(18, 100)
    enqueue(18)
    enqueue(19, { isPeer: true, ms: 300 })
    enqueue(20, { isPeer: true })
    for (let probe = 100; probe < 125; probe++) enqueue(probe, { isProbe: true })
    await turns(26)
    expect(refused).toEqual([18, 20])
    expect(started).toHaveLength(18 + 1 + 25)
  })

  it('connections are parked while many requests wait, and the wait of their requests counts', async () => {
    const { shedder, refused, enqueue, enqueueSome, turns, pass } = create()
    const resumed: string[] = []
    const park = (name: string) => shedder.park(() => resumed.push(name))
    enqueueSome(255, 10)
    expect(park('none')).toBe(false)
    enqueueSome(1, 10)
    expect([park('first'), park('second')]).toEqual([true, true])
    await turns(192)
    expect(resumed).toEqual([])
    // There is room for one connection, and a new one is parked behind the others.
    await turns(1)
    expect([resumed, park('third')]).toEqual([['first'], true])
    await turns(1)
    expect(resumed).toEqual(['first', 'second', 'third'])
    await turns(62)
    expect(park('none')).toBe(false)
    pass(2_000)
    enqueue(1000, { unreadSinceMs: 0 })
    await turns(1)
    expect(refused).toContain(1000)
  })

  it('no request is refused because the process was suspended', async () => {
    const { started, enqueueSome, pass, turns } = create()
    enqueueSome(1, 0)
    pass(5_000)
    await turns(1)
    expect(started).toEqual([0])
  })
})

describe('work in progress', () => {
  const TOO_LATE = new ScanError('OVERLOADED', 'too many reads are waiting')

  it('halves its bound after a late handler, once for requests that started together', () => {
    const { shedder, room, pass } = create()
    const before = room()
    shedder.begin(before)
    shedder.end(1, TOO_LATE)
    shedder.end(1, TOO_LATE)
    expect(room()).toBe(0)
    shedder.begin(2 - before) // When the bound was halved, one had ended.
    expect(room()).toBe(before / 2)
    pass(500)
    shedder.begin(1)
    shedder.end(1, TOO_LATE)
    expect(room()).toBe(256)
  })

  it('raises its bound after it answered as many requests as the bound', () => {
    const { shedder, room } = create()
    const before = room()
    for (let round = 0; round < 10; round++) {
      const units = room()
      shedder.begin(units)
      for (let left = units; left > 0; left--) shedder.end(1)
    }
    expect(room()).toBeGreaterThan(before)
    expect(room()).toBeLessThanOrEqual(4096)
    const most = room()
    for (let round = 0; round < 1000; round++) {
      shedder.begin(1)
      shedder.end(1)
    }
    expect(room()).toBe(most)
  })

  it('keeps its bound after any other failure', () => {
    const { shedder, room } = create()
    const before = room()
    shedder.begin(1)
    shedder.end(1, new ScanError('NOT_READY', 'starting'))
    expect(room()).toBe(before)
  })

  it('refuses what arrives beyond its bound, of peers beyond a larger one', async () => {
    const { shedder, started, refused, enqueue, turns } = create()
    shedder.begin(4096)
    enqueue(1)
    enqueue(2, { isPeer: true })
    await turns(1)
    shedder.begin(4096)
    enqueue(3, { isPeer: true })
    await turns(1)
    expect([started, refused]).toEqual([[2], [1, 3]])
  })
})
