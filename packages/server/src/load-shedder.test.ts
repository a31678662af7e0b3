import { setImmediate as nextTurn } from 'node:timers/promises'
import { ScanError } from '@quorumscan/errors'
import { createManualClock } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { createDeadlines } from './deadlines.ts'
import { createLoadShedder, type Work } from './load-shedder.ts'

/** Begins work that is not delayed. */
const BEGUN = (work: Work | Promise<Work>): Work => {
  if (work instanceof Promise) throw new Error('the work waits for other work of its network')
  return work
}

function create({ unitsPerSecond = null as number | null } = {}) {
  let nowMs = 0
  const clock = createManualClock()
  const deadlines = createDeadlines(clock, new AbortController().signal)
  const limited = createLoadShedder({ monotonicMs: () => nowMs }, deadlines, { unitsPerSecond })
  const shedder = {
    ...limited,
    begin: (...[sender, units]: Parameters<typeof limited.begin>) =>
      BEGUN(limited.begin(sender, units)),
  }
  const started: number[] = []
  const refused: number[] = []
  const pass = (ms: number) => {
    nowMs += ms
  }
  const enqueue = (
    name: number,
    {
      ms = 0,
      network = 'a client',
      isPeer = false,
      isProbe = false,
      isGone = (): boolean => false,
      unreadSinceMs = null as number | null,
    } = {},
  ) =>
    shedder.enqueue({
      sender: { network, isPeer },
      isProbe,
      isGone,
      unreadSinceMs,
      start(refusal) {
        ;(refusal === null ? started : refused).push(name)
        pass(ms)
      },
    })
  const clientOf = (index: number) => ({ network: `client ${index}`, isPeer: false })
  const hasRoom = (sender = clientOf(-1)): boolean => {
    try {
      shedder.assertRoom(sender)
      return true
    } catch {
      return false
    }
  }
  return {
    shedder,
    begin: limited.begin,
    /** Lets deadlines pass. */
    advance: clock.advance,
    now: () => nowMs,
    started,
    refused,
    pass,
    enqueue,
    /** Requests whose handlers take so long. */
    enqueueSome(count: number, ms: number): void {
      for (let name = 0; name < count; name++) enqueue(name, { ms })
    },
    async turns(count: number): Promise<void> {
      for (let turn = 0; turn < count; turn++) await nextTurn()
    },
    /** Work of many clients, which takes all room that there is: one unit each. */
    fill(): ReturnType<typeof shedder.begin>[] {
      const works: ReturnType<typeof shedder.begin>[] = []
      for (;;) {
        const sender = clientOf(works.length)
        if (!hasRoom(sender)) return works
        works.push(shedder.begin(sender, 1))
      }
    },
    hasRoom,
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

  it.each([
    { isPeer: false, answered: 18 },
    { isPeer: true, answered: 21 },
  ])(
    'a request is refused after waiting 1.75 s, of a peer 2 s, a probe never: $isPeer',
    async ({ isPeer, answered }) => {
      const { started, refused, enqueue, turns } = create()
      for (let name = 0; name <= answered; name++) enqueue(name, { isPeer, ms: 100 })
      for (let probe = 100; probe < 125; probe++) enqueue(probe, { isProbe: true })
      await turns(26)
      expect(refused).toEqual([answered])
      expect(started).toHaveLength(answered + 25)
    },
  )

  it('connections are parked while many requests wait, and the wait of their requests counts', async () => {
    const { shedder, refused, enqueue, enqueueSome, turns, pass } = create()
    const resumed: string[] = []
    const park = (name: string) => shedder.park('a client', () => resumed.push(name))
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

describe('clients take turns', () => {
  const MODEST = Array.from({ length: 10 }, (_, index) => `modest ${index}`)

  /** The position at which each modest client is served, after this number of requests of a greedy one. */
  async function positionsAfter(greedyCount: number): Promise<number[]> {
    const { started, enqueue, turns } = create()
    for (let name = 0; name < greedyCount; name++) enqueue(name, { network: 'greedy', ms: 10 })
    for (const [index, network] of MODEST.entries()) enqueue(1000 + index, { network, ms: 10 })
    await turns(greedyCount + MODEST.length)
    return MODEST.map((_, index) => started.indexOf(1000 + index))
  }

  it('a modest client is served one place later than without a greedy one', async () => {
    const alone = await positionsAfter(0)
    expect(alone).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(await positionsAfter(200)).toEqual(alone.map((position) => position + 1))
  })

  /**
   * The 99th percentile of the waits of ten modest clients in 2 s of virtual time. Each asks five times a second, and each
   * request takes 2 ms. A greedy client sends at the start of each second what its rate allows in it.
   */
  async function waitOfModest(greedyPerSecond: number): Promise<number> {
    const { shedder, enqueue, turns, pass, now } = create()
    const waits: number[] = []
    for (let tick = 0; tick < 200; tick++) {
      if (tick % 100 === 0)
        for (let name = 0; name < greedyPerSecond; name++)
          enqueue(name, { network: 'greedy', ms: 2 })
      if (tick % 20 === 5)
        for (const network of MODEST) {
          const arrivedMs = now()
          shedder.enqueue({
            sender: { network, isPeer: false },
            isProbe: false,
            isGone: () => false,
            unreadSinceMs: null,
            start() {
              waits.push(now() - arrivedMs)
              pass(2)
            },
          })
        }
      const nextMs = 10 * (tick + 1)
      while (now() < nextMs) {
        const before = now()
        await turns(1)
        if (now() === before) pass(nextMs - before)
      }
    }
    expect(waits).toHaveLength(100)
    return waits.sort((a, b) => a - b)[98] ?? Number.NaN
  }

  it('next to a greedy one at its rate, modest clients wait at most twice as long', async () => {
    const alone = await waitOfModest(0)
    expect(alone).toBe(18)
    expect(await waitOfModest(200)).toBeLessThanOrEqual(2 * alone)
  })

  it('many addresses leave every second place to peers', async () => {
    const { started, enqueue, turns } = create()
    for (let name = 0; name < 100; name++) enqueue(name, { network: `address ${name}`, ms: 10 })
    for (let name = 1000; name < 1003; name++) enqueue(name, { isPeer: true, ms: 10 })
    await turns(6)
    expect(started).toEqual([1000, 0, 1001, 1, 1002, 2])
  })

  it('from 256 requests on connections of clients that wait are parked, from 1280 on all', () => {
    const { shedder, enqueue } = create()
    const parks = (network: string) => shedder.park(network, () => {})
    let count = 0
    const wait = (until: number) => {
      for (; count < until; count++) enqueue(count, { network: `client ${count}` })
    }
    wait(255)
    expect(parks('client 0')).toBe(false)
    wait(256)
    expect([parks('client 0'), parks('modest')]).toEqual([true, false])
    wait(1279)
    expect(parks('modest')).toBe(false)
    wait(1280)
    expect(parks('modest')).toBe(true)
  })

  it('connections of a client that has few requests waiting are not parked', () => {
    const { shedder, enqueue } = create()
    for (let name = 0; name < 256; name++) enqueue(name, { network: 'greedy' })
    expect(shedder.park('greedy', () => {})).toBe(true)
    expect(shedder.park('modest', () => {})).toBe(false)
  })
})

describe('work in progress', () => {
  const TOO_LATE = new ScanError('OVERLOADED', 'too many reads are waiting')
  const GREEDY = { network: 'greedy', isPeer: false }

  it('halves its bound after a late handler, once for requests that started together', () => {
    const { shedder, fill, hasRoom, pass } = create()
    const works = fill()
    const before = works.length
    works.pop()?.end(TOO_LATE)
    works.pop()?.end(TOO_LATE)
    expect(hasRoom()).toBe(false)
    for (const work of works) work.pause()
    const halved = fill()
    expect(halved).toHaveLength(before / 2)
    for (const work of halved) work.pause()
    pass(500)
    shedder.begin(GREEDY, 1).end(TOO_LATE)
    expect(fill()).toHaveLength(256)
  })

  it('raises its bound after it answered as many requests as the bound', () => {
    const { shedder, fill } = create()
    const first = fill()
    for (const work of first) work.end()
    for (let round = 0; round < 10; round++) for (const work of fill()) work.end()
    for (let round = 0; round < 1000; round++) shedder.begin(GREEDY, 1).end()
    const most = fill()
    expect(most.length).toBeGreaterThan(first.length)
    expect(most.length).toBeLessThanOrEqual(4096)
    for (const work of most) work.pause()
    for (let round = 0; round < 1000; round++) shedder.begin(GREEDY, 1).end()
    expect(fill()).toHaveLength(most.length)
  })

  it('keeps its bound after any other failure', () => {
    const { shedder, fill } = create()
    const works = fill()
    for (const work of works) work.pause()
    shedder.begin(GREEDY, 1).end(new ScanError('NOT_READY', 'starting'))
    expect(fill()).toHaveLength(works.length)
  })

  it('refuses what arrives beyond its bound, of peers beyond a larger one', async () => {
    const { shedder, started, refused, enqueue, turns } = create()
    shedder.begin({ network: 'others', isPeer: false }, 4096)
    enqueue(1)
    enqueue(2, { isPeer: true })
    await turns(1)
    shedder.begin({ network: 'others', isPeer: false }, 4096)
    enqueue(3, { isPeer: true })
    await turns(1)
    expect([started, refused]).toEqual([[2], [1, 3]])
  })

  it('one client has a half of the bound, raises it by using its share, and leaves room', () => {
    const { shedder, hasRoom } = create()
    const fillGreedy = () => {
      const works: ReturnType<typeof shedder.begin>[] = []
      while (hasRoom(GREEDY)) works.push(shedder.begin(GREEDY, 1))
      return works
    }
    const first = fillGreedy()
    expect([first.length, hasRoom()]).toEqual([1024, true])
    for (const work of first) work.end()
    expect(fillGreedy().length).toBeGreaterThan(first.length)
    expect(hasRoom()).toBe(true)
  })

  it('a request that waits for news is no work until it resumes, and never after its end', () => {
    const { shedder, fill, hasRoom } = create()
    const ended = shedder.begin(GREEDY, 1000)
    const resumeLate = ended.pause()
    ended.end()
    resumeLate()
    const all = fill()
    expect(all).toHaveLength(2048)
    const [one] = all
    const resume = one?.pause()
    const resumeAgain = one?.pause()
    expect(hasRoom()).toBe(true)
    resume?.()
    expect(hasRoom()).toBe(true)
    resumeAgain?.()
    expect(hasRoom()).toBe(false)
  })

  it('one client cannot occupy the waits for news', () => {
    const { shedder } = create()
    const wait = (sender: typeof GREEDY) => shedder.begin(sender, 1).pause()
    for (let count = 0; count < 2400; count++) wait(GREEDY)
    expect(() => wait(GREEDY)).toThrow(expect.objectContaining({ code: 'OVERLOADED' }))
    wait({ network: 'modest', isPeer: false })
  })
})

describe('work in progress of a network', () => {
  const PER_SECOND = { unitsPerSecond: 200 }
  const GREEDY = { network: 'greedy', isPeer: false }
  const MODEST = { network: 'modest', isPeer: false }

  it('is a sixth of a second of its rate, whatever a greedy client sends, and begins in order', async () => {
    const { begin } = create(PER_SECOND)
    const begun: number[] = []
    const works: Work[] = []
    const burst = Array.from({ length: 50 }, (_, name) =>
      Promise.resolve(begin(GREEDY, 4)).then((work) => {
        begun.push(name)
        works.push(work)
      }),
    )
    await nextTurn()
    expect(begun).toHaveLength(8)
    expect(begin(MODEST, 64)).not.toBeInstanceOf(Promise)
    for (let count = 0; count < 50; count++) {
      works.shift()?.end()
      await nextTurn()
      expect(works.length).toBeLessThanOrEqual(8)
    }
    await Promise.all(burst)
    expect(begun).toEqual(Array.from({ length: 50 }, (_, name) => name))
  })

  it('may be exceeded by one request, whose size is not known before, and is free while it waits', async () => {
    const { begin } = create(PER_SECOND)
    const large = BEGUN(begin(GREEDY, 500))
    let isBegun = false
    const next = Promise.resolve(begin(GREEDY, 1)).then(() => {
      isBegun = true
    })
    await nextTurn()
    expect(isBegun).toBe(false)
    const resume = large.pause()
    await next
    resume()
    expect(begin(GREEDY, 1)).toBeInstanceOf(Promise)
    // It is no work for this process.
    expect(begin(GREEDY, 0)).not.toBeInstanceOf(Promise)
  })

  it('is free while requests wait for nodes, which remain work of all', async () => {
    const { begin, hasRoom } = create(PER_SECOND)
    const waits = Array.from({ length: 32 }, () => BEGUN(begin(GREEDY, 64)).pauseOfNetwork())
    expect(hasRoom()).toBe(false)
    expect(hasRoom({ network: 'a peer', isPeer: true })).toBe(true)
    for (const resume of waits) resume()
    expect(begin(GREEDY, 1)).toBeInstanceOf(Promise)
  })

  it('has one request of unknown work, which is not more of the work of all', async () => {
    const { begin, hasRoom } = create(PER_SECOND)
    const lists = Array.from({ length: 3 }, () => begin(GREEDY, 5, { isUnknown: true }))
    expect(lists.map((work) => work instanceof Promise)).toEqual([false, true, true])
    BEGUN(begin({ network: 'others', isPeer: false }, 2042))
    expect(hasRoom()).toBe(true)
  })

  it('has no bound for peers', () => {
    const { begin } = create(PER_SECOND)
    const peer = { network: 'a peer', isPeer: true }
    for (let count = 0; count < 8; count++) BEGUN(begin(peer, 256))
  })

  it('a request that waits for 1.75 s is refused, while the list before it goes on', async () => {
    const { begin, advance } = create(PER_SECOND)
    const list = BEGUN(begin(GREEDY, 5, { isUnknown: true }))
    const late = Promise.resolve(begin(GREEDY, 1)).catch(({ code }) => code)
    await advance(1)
    const next = begin(GREEDY, 1)
    await advance(1749)
    expect(await late).toBe('OVERLOADED')
    list.end()
    expect(await next).toHaveProperty('end')
    BEGUN(begin(GREEDY, 1))
  })

  it('a request whose client has left waits no longer', async () => {
    const { begin } = create(PER_SECOND)
    const list = BEGUN(begin(GREEDY, 64))
    const listeners: (() => void)[] = []
    const onGone = (listener: () => void) => void listeners.push(listener)
    const wait = () => Promise.resolve(begin(GREEDY, 1, { onGone })).catch(({ code }) => code)
    const some = Array.from({ length: 819 }, wait)
    expect(() => begin(GREEDY, 1)).toThrow(expect.objectContaining({ code: 'OVERLOADED' }))
    expect(begin(MODEST, 64)).not.toBeInstanceOf(Promise)
    expect(begin(MODEST, 1)).toBeInstanceOf(Promise)
    for (const leave of listeners) leave()
    expect(new Set(await Promise.all(some))).toEqual(new Set(['OVERLOADED']))
    const next = begin(GREEDY, 1)
    list.end()
    expect(await next).toHaveProperty('end')
  })

  it('a request is refused when its turn comes if others have used the room', async () => {
    const { begin, fill } = create(PER_SECOND)
    const first = BEGUN(begin(GREEDY, 64))
    const waiting = begin(GREEDY, 1)
    fill()
    BEGUN(begin(MODEST, 256))
    first.end()
    await expect(waiting).rejects.toMatchObject({ code: 'OVERLOADED' })
  })
})
