/**
 * Queues a job for each item that is due on the ledger (Rule 7). Events queue new items at once. The periodic sweep
 * queues every item that no event announced. Adding a job twice changes nothing, so the sweep stores no state.
 */
import { type Clock, held } from '@quorumscan/base'
import type { DueItem, Ledger } from '@quorumscan/ledger'
import type { ContractId } from '@quorumscan/model'
import { LRUCache } from 'lru-cache'
import { jobId } from './failures.ts'
import { type JobShares, ownerOf } from './job-shares.ts'
import { countsOf, type JobCounts, type JobQueue } from './queue.ts'

/** Due items that one call reads: one round trip of well under a millisecond. */
export const PAGE_SIZE = 500
/** Pages that one sweep reads for a job. The next sweep continues after them: a backlog may have any size. */
export const PAGES_PER_SWEEP_MAX = 10
/** Jobs in one queue. Further jobs would only wait and use memory that the replica needs. */
export const QUEUED_MAX = 1_000
/** An added job is not added again for this long, unless the connection to Redis was lost meanwhile. */
const POSTPONE_QUEUED_MS = 5_000
/** Due items of events that wait to be added. The sweep adds items beyond this limit. */
const WAITING_MAX = 1_000

/** The jobs that are not added again for a while. The list is bounded; to forget an entry is always safe. */
export type Postponed = ReturnType<typeof createPostponed>

/** Above `sizeMax` entries the oldest is forgotten. */
export function createPostponed(clock: Clock, sizeMax: number) {
  const untilByKey = new LRUCache<string, number>({ max: sizeMax })
  return {
    postpone(key: string, ms: number): void {
      untilByKey.set(key, clock.monotonicMs() + ms)
    },
    // `peek` does not renew the entry.
    isPostponed: (key: string) => clock.monotonicMs() < (untilByKey.peek(key) ?? 0),
    /** Forgets all entries, so that every due job may be added again at once. */
    clear: () => untilByKey.clear(),
  }
}

type SweptQueue = Pick<JobQueue, 'name' | 'add' | 'counts'> & {
  /** Returns the contracts that are work for this process (`JobDefinition.select`). */
  select(contractIds: readonly ContractId[]): Promise<readonly ContractId[]>
  /** Returns what is due of a job that is not due on the ledger (`JobDefinition.due`). */
  readonly due?: (() => Promise<readonly ContractId[]>) | undefined
}

export function createSweep(options: {
  readonly ledger: Pick<Ledger, 'contracts' | 'dueItems'>
  readonly queues: readonly SweptQueue[]
  readonly postponed: Postponed
  readonly shares: JobShares
}) {
  const { ledger, postponed, shares } = options
  const queues = new Map(options.queues.map((queue) => [queue.name, queue]))
  /** Due items of events, until `flush` adds them. */
  let waiting: DueItem[] = []
  /** The item at which the last sweep of a job ended. */
  const cursors = held(
    { owner: 'jobs', name: 'cursors of sweeps', kind: 'state', bound: 'one of each kind' },
    new Map<string, DueItem>(),
  )

  /** Those whose owners have room, as many as the queue takes, each with its place among the jobs of its owner. */
  const placesOf = async (job: string, ids: readonly ContractId[], room: number) => {
    const contracts = await ledger.contracts(ids)
    const placed: { readonly contractId: ContractId; readonly place: number }[] = []
    for (const [index, contractId] of ids.entries()) {
      if (placed.length === room) break
      const place = shares.place({ job, contractId }, ownerOf(contracts[index], contractId))
      if (place !== null) placed.push({ contractId, place })
    }
    return placed
  }

  const add = async (items: readonly DueItem[], roomByJob: Map<string, number>) => {
    const idsByJob = new Map<string, Set<ContractId>>()
    for (const item of items) {
      // An item without a queue is the work of another process, such as a wallet.
      if (!queues.has(item.job) || postponed.isPostponed(jobId(item))) continue
      const ids = idsByJob.get(item.job) ?? new Set()
      idsByJob.set(item.job, ids.add(item.contractId))
    }
    for (const [job, ids] of idsByJob) {
      const queue = queues.get(job)
      const room = roomByJob.get(job) ?? 0
      if (queue === undefined || room === 0) continue
      const wanted = await placesOf(job, await queue.select([...ids]), room)
      if (wanted.length === 0) continue
      roomByJob.set(job, room - wanted.length)
      const postpone = (ms: number) => {
        for (const { contractId } of wanted) postponed.postpone(jobId({ job, contractId }), ms)
      }
      // The job is postponed before it is added, because it may end and postpone itself before `add` returns.
      postpone(POSTPONE_QUEUED_MS)
      try {
        await queue.add(wanted)
      } catch (error) {
        postpone(0)
        for (const { contractId } of wanted) shares.end({ job, contractId })
        throw error
      }
    }
  }

  const measureRoom = async () => {
    const counts = Object.entries(await countsOf(options.queues))
    return new Map(counts.map(([job, ofJob]) => [job, Math.max(0, QUEUED_MAX - sumOf(ofJob))]))
  }

  const walk = async ({ name: job, due }: SweptQueue, roomByJob: Map<string, number>) => {
    if (due !== undefined)
      return await add(
        (await due()).map((contractId) => ({ job, contractId, at: 0 })),
        roomByJob,
      )
    for (let page = 0; page < PAGES_PER_SWEEP_MAX; page++) {
      if (roomByJob.get(job) === 0) return
      const after = cursors.get(job) ?? null
      const items = await ledger.dueItems({ job, limit: PAGE_SIZE, after })
      await add(items, roomByJob)
      const last = items.at(-1)
      if (last === undefined || items.length < PAGE_SIZE) {
        cursors.delete(job)
        return
      }
      cursors.set(job, last)
    }
  }

  return {
    /** Accepts due items of a new event. `flush` adds them. */
    enqueue(items: readonly DueItem[]): void {
      for (const item of items)
        if (queues.has(item.job) && waiting.length < WAITING_MAX) waiting.push(item)
    },
    /** Adds the waiting items, including those that arrive while it runs. The sweep adds items that Redis refuses. */
    async flush(): Promise<void> {
      while (waiting.length > 0) {
        const items = waiting
        waiting = []
        await add(items, await measureRoom())
      }
    },
    /** Reads the next portion of due items of each job, and adds those that its queue has room for. */
    async tick(): Promise<void> {
      const roomByJob = await measureRoom()
      // Each job has its own portion, so that the backlog of one job does not delay the others.
      for (const queue of queues.values()) await walk(queue, roomByJob)
    },
  }
}

function sumOf(counts: JobCounts): number {
  return counts.waiting + counts.delayed + counts.active
}
