import type { DueItem } from '@quorumscan/ledger'
import type { Contract } from '@quorumscan/model'
import { createManualClock } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { createJobShares } from './job-shares.ts'
import {
  createPostponed,
  createSweep,
  PAGE_SIZE,
  PAGES_PER_SWEEP_MAX,
  QUEUED_MAX,
} from './sweep.ts'

/** A queue that holds its jobs until a test removes them. */
function memoryQueue(
  name: string,
  select: (job: string, ids: readonly string[]) => Promise<readonly string[]>,
) {
  /** The places of the queued jobs. */
  const ids = new Map<string, number>()
  let isAway = false
  const queue: Parameters<typeof createSweep>[0]['queues'][number] = {
    name,
    select: (contractIds) => select(name, contractIds),
    add: async (added) => {
      if (isAway) throw new Error('away')
      for (const { contractId, place } of added)
        if (!ids.has(contractId)) ids.set(contractId, place)
    },
    counts: async () => ({ waiting: ids.size, delayed: 0, active: 0 }),
  }
  return { queue, ids, setAway: (value: boolean) => (isAway = value) }
}

/** A contract of this party and the operator. */
const contractOf = (party: string, contractId: string): Contract => ({
  contractId,
  templateId: 'package:Names:AnsEntry',
  packageName: 'quorumscan-name-service',
  payload: { dso: 'dso::1220', user: party },
  signatories: ['dso::1220', party],
  observers: [],
  createdAt: 1,
  offset: 1,
  updateId: 'update',
  nodeId: 0,
})

function setUp(
  due: DueItem[],
  select: Parameters<typeof memoryQueue>[1] = async (_job, ids) => ids,
  /** The parties of contracts. Default: no contract is known, and each is its own owner. */
  partyOf: (contractId: string) => string | null = () => null,
) {
  const clock = createManualClock()
  const entries = memoryQueue('expire-entry', select)
  const payments = memoryQueue('resolve-initial-payment', select)
  let pages = 0
  const asked: string[] = []
  const shares = createJobShares(clock)
  const sweep = createSweep({
    shares,
    ledger: {
      contracts: async (ids) =>
        ids.map((id) => {
          const party = partyOf(id)
          return party === null ? null : contractOf(party, id)
        }),
      dueItems: async ({ job, limit, after }) => {
        pages += 1
        asked.push(job)
        const ofJob = due.filter((item) => item.job === job)
        const from = after === null ? 0 : ofJob.indexOf(after) + 1
        return ofJob.slice(from, from + limit)
      },
    },
    queues: [entries.queue, payments.queue],
    postponed: createPostponed(clock, 100_000),
  })
  return { clock, shares, entries, payments, sweep, asked, pagesRead: () => pages }
}

const dueOfJob = (job: string, count: number) =>
  Array.from(
    { length: count },
    (_, index): DueItem => ({ job, contractId: `00${index}`, at: index }),
  )

describe('a sweep', () => {
  it('reads a bounded portion of a backlog and continues there the next time', async () => {
    const backlog = dueOfJob('expire-entry', PAGE_SIZE * PAGES_PER_SWEEP_MAX + 1)
    const last = backlog.at(-1)?.contractId ?? ''
    const { sweep, entries, asked } = setUp(backlog, async (_job, ids) =>
      ids.filter((id) => id === last),
    )
    await sweep.tick()
    expect(asked.filter((job) => job === 'expire-entry')).toHaveLength(PAGES_PER_SWEEP_MAX)
    expect(entries.ids.size).toBe(0)
    await sweep.tick()
    expect([...entries.ids.keys()]).toEqual([last])
  })

  it('reads no further while a queue is full', async () => {
    const { sweep, entries, pagesRead } = setUp(dueOfJob('expire-entry', QUEUED_MAX * 3))
    await sweep.tick()
    expect(entries.ids.size).toBe(QUEUED_MAX)
    const before = pagesRead()
    await sweep.tick()
    // The sweep reads one page of the other job.
    expect(pagesRead()).toBe(before + 1)
  })

  it('is not delayed by the backlog of another job, with or without a queue here', async () => {
    const foreign = dueOfJob('renew-subscription', 200_000)
    const backlog = dueOfJob('expire-entry', 200_000)
    const ours: DueItem = { job: 'resolve-initial-payment', contractId: '00ff', at: 1e9 }
    const { sweep, payments, pagesRead } = setUp([...foreign, ...backlog, ours])
    await sweep.tick()
    expect([...payments.ids.keys()]).toEqual(['00ff'])
    expect(pagesRead()).toBeLessThanOrEqual(PAGES_PER_SWEEP_MAX + 1)
  })

  it('queues all of a backlog as queues become empty', async () => {
    const backlog = dueOfJob('expire-entry', QUEUED_MAX * 3)
    const { sweep, shares, entries, clock } = setUp(backlog)
    const done = new Set<string>()
    for (let round = 0; round < 4; round++) {
      await sweep.tick()
      for (const contractId of entries.ids.keys()) {
        done.add(contractId)
        shares.end({ job: 'expire-entry', contractId })
      }
      entries.ids.clear()
      await clock.advance(1_000)
    }
    expect(done.size).toBe(backlog.length)
  })

  it('adds jobs again that a queue failed to accept', async () => {
    const { sweep, entries } = setUp(dueOfJob('expire-entry', 3))
    entries.setAway(true)
    await expect(sweep.tick()).rejects.toThrow('away')
    entries.setAway(false)
    await sweep.tick()
    expect(entries.ids.size).toBe(3)
  })

  it('adds jobs again after 5 s if their queue lost them', async () => {
    const { sweep, entries, clock } = setUp(dueOfJob('expire-entry', 1))
    await sweep.tick()
    entries.ids.clear()
    await sweep.tick()
    expect(entries.ids.size).toBe(0)
    await clock.advance(5_000)
    await sweep.tick()
    expect(entries.ids.size).toBe(1)
  })

  it('queues only selected contracts: others neither fill a queue nor delay jobs', async () => {
    const isEven = (id: string) => Number(id.slice(2)) % 2 === 0
    const due = dueOfJob('expire-entry', 2 * QUEUED_MAX)
    const asked: string[] = []
    const { sweep, entries } = setUp(due, async (job, ids) => {
      asked.push(job)
      return ids.filter(isEven)
    })
    await sweep.tick()
    expect(entries.ids.size).toBe(QUEUED_MAX)
    expect([...entries.ids.keys()].every(isEven)).toBe(true)
    asked.length = 0
    sweep.enqueue(dueOfJob('resolve-initial-payment', 1))
    await sweep.flush()
    expect(asked).toEqual(['resolve-initial-payment'])
  })

  it('ignores due contracts of jobs without a queue here', async () => {
    const { sweep, entries, payments } = setUp(dueOfJob('renew-subscription', 5))
    await sweep.tick()
    sweep.enqueue(dueOfJob('renew-subscription', 5))
    await sweep.flush()
    expect(entries.ids.size + payments.ids.size).toBe(0)
  })

  it('adds jobs that an event enqueues without reading other due contracts', async () => {
    const { sweep, payments, pagesRead } = setUp([])
    sweep.enqueue(dueOfJob('resolve-initial-payment', 2))
    await sweep.flush()
    expect(payments.ids.size).toBe(2)
    expect(pagesRead()).toBe(0)
  })

  it('next to a greedy party, the jobs of ten modest ones are as near to the front as alone', async () => {
    const greedy = dueOfJob('expire-entry', 2 * QUEUED_MAX)
    const modest = Array.from(
      { length: 10 },
      (_, index): DueItem => ({ job: 'expire-entry', contractId: `00f${index}`, at: 1e9 }),
    )
    const { sweep, entries } = setUp([...greedy, ...modest], undefined, (id) =>
      modest.some(({ contractId }) => contractId === id) ? id : 'greedy',
    )
    await sweep.tick()
    expect(modest.map(({ contractId }) => entries.ids.get(contractId))).toEqual(Array(10).fill(0))
    const places = [...entries.ids.values()].filter((_, index) => index < 250)
    expect(places).toEqual(Array.from({ length: 250 }, (_, index) => index))
    expect(entries.ids.size).toBe(260)
  })

  it('what a party has queued is forgotten when it has left the queue, or is not due any more', async () => {
    const { sweep, shares, entries, clock } = setUp(
      dueOfJob('expire-entry', QUEUED_MAX),
      undefined,
      () => 'greedy',
    )
    await sweep.tick()
    const first = [...entries.ids.keys()]
    for (const contractId of first.slice(0, 10)) shares.end({ job: 'expire-entry', contractId })
    await sweep.tick()
    expect(entries.ids.size).toBe(first.length + 10)
    await clock.advance(60_000)
    expect(shares.place({ job: 'expire-entry', contractId: '00ee' }, 'greedy')).toBe(0)
  })
})
