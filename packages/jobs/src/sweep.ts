/**
 * From what is due on the ledger to jobs in queues (Rule 7): events make it quick, the sweep makes it
 * certain. Adding twice changes nothing, so nothing here has to be remembered.
 */
import type { Clock } from '@quorumscan/base'
import type { DueItem, Ledger } from '@quorumscan/ledger'
import type { ContractId } from '@quorumscan/model'
import { LRUCache } from 'lru-cache'
import { jobId } from './failures.ts'
import { countsOf, type JobCounts, type JobQueue } from './queue.ts'

/** Due items read at once: one round trip of well under a millisecond. */
export const PAGE_SIZE = 500
/** Pages of a job in one sweep; the next sweep continues there, so that it covers a backlog of any size. */
export const PAGES_PER_SWEEP_MAX = 10
/** Jobs in one queue. More would only wait, and take memory that the replica needs. */
export const QUEUED_MAX = 1_000
/** What was just added is not offered again for this long (unless Redis was away in between). */
const POSTPONE_QUEUED_MS = 5_000
/** Due items of events that wait to be added; what does not fit comes by the sweep. */
const OFFERED_MAX = 1_000

/** Remembers what is not to be tried again for a while; bounded, and forgetting is always safe. */
export type Postponed = ReturnType<typeof createPostponed>

/** When `sizeMax` is reached the oldest is forgotten. */
export function createPostponed(clock: Clock, sizeMax: number) {
  const untilByKey = new LRUCache<string, number>({ max: sizeMax })
  return {
    postpone(key: string, ms: number): void {
      untilByKey.set(key, clock.monotonicMs() + ms)
    },
    // Asking does not make it younger.
    isPostponed: (key: string) => clock.monotonicMs() < (untilByKey.peek(key) ?? 0),
    /** Forgets everything: whatever is due may be added again at once. */
    clear: () => untilByKey.clear(),
  }
}

type SweptQueue = Pick<JobQueue, 'name' | 'add' | 'counts'> & {
  /** Which contracts are work for this process (`JobDefinition.select`). */
  select(contractIds: readonly ContractId[]): Promise<readonly ContractId[]>
}

export function createSweep(options: {
  readonly ledger: Pick<Ledger, 'dueItems'>
  readonly queues: readonly SweptQueue[]
  readonly postponed: Postponed
}) {
  const { ledger, postponed } = options
  const queues = new Map(options.queues.map((queue) => [queue.name, queue]))
  let offered: DueItem[] = []
  /** Where the last sweep of a job ended. */
  const cursors = new Map<string, DueItem>()

  const add = async (items: readonly DueItem[], roomByJob: Map<string, number>) => {
    const idsByJob = new Map<string, Set<ContractId>>()
    for (const item of items) {
      // Without a queue it is the work of another process, e.g. of a wallet.
      if (!queues.has(item.job) || postponed.isPostponed(jobId(item))) continue
      const ids = idsByJob.get(item.job) ?? new Set()
      idsByJob.set(item.job, ids.add(item.contractId))
    }
    for (const [job, ids] of idsByJob) {
      const queue = queues.get(job)
      const room = roomByJob.get(job) ?? 0
      if (queue === undefined || room === 0) continue
      const wanted = (await queue.select([...ids])).slice(0, room)
      if (wanted.length === 0) continue
      roomByJob.set(job, room - wanted.length)
      const postpone = (ms: number) => {
        for (const id of wanted) postponed.postpone(jobId({ job, contractId: id }), ms)
      }
      // Before the add: a job may end and postpone itself before the add has returned.
      postpone(POSTPONE_QUEUED_MS)
      try {
        await queue.add(wanted)
      } catch (error) {
        postpone(0)
        throw error
      }
    }
  }

  const measureRoom = async () => {
    const counts = Object.entries(await countsOf(options.queues))
    return new Map(counts.map(([job, ofJob]) => [job, Math.max(0, QUEUED_MAX - sumOf(ofJob))]))
  }

  const walk = async (job: string, roomByJob: Map<string, number>) => {
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
    /** Accepts due items of a new event, without waiting for them to be added. */
    offer(items: readonly DueItem[]): void {
      for (const item of items)
        if (queues.has(item.job) && offered.length < OFFERED_MAX) offered.push(item)
    },
    /** Adds what was offered, including what arrives while it runs. What Redis did not accept is left to the sweep. */
    async flush(): Promise<void> {
      while (offered.length > 0) {
        const items = offered
        offered = []
        await add(items, await measureRoom())
      }
    },
    /** Walks over the next portion of what is due for each job and adds what there is room for. */
    async tick(): Promise<void> {
      const roomByJob = await measureRoom()
      // Each job has a walk of its own: a backlog of one keeps no other waiting.
      for (const job of queues.keys()) await walk(job, roomByJob)
    },
  }
}

function sumOf({ waiting, delayed, active }: JobCounts): number {
  return waiting + delayed + active
}
