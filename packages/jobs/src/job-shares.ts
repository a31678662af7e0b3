/**
 * The owners of queued jobs: the parties whose contracts are due. They share each queue, and the first job of a party goes
 * before the second one of another. So many contracts of one party that are due at once do not delay those of others.
 */
import { type Clock, createShares, held, type Shares } from '@quorumscan/base'
import type { Contract, ContractId, PartyId } from '@quorumscan/model'
import { jobId } from './failures.ts'

/** More than a queue takes (`QUEUED_MAX`), so that the shares leave no place unused. */
const SHARED_MAX = 1250
/** A job that is still due is added again every 5 s. One that is not was removed by an operator, or by another process. */
const UNSEEN_MS_MAX = 60_000

type QueuedJob = { readonly job: string; readonly contractId: ContractId }

export type JobShares = ReturnType<typeof createJobShares>

export function createJobShares(clock: Pick<Clock, 'monotonicMs'>) {
  const sharesByJob = held(
    { owner: 'jobs', name: 'kinds of jobs', kind: 'state', bound: 'one of each kind' },
    new Map<string, Shares<'jobs'>>(),
  )
  /** Of the jobs that this process has queued; the longest unseen one first. */
  const queuedById = held(
    { owner: 'jobs', name: 'queued jobs', kind: 'state', bound: 'QUEUED_MAX of each kind' },
    new Map<string, { readonly release: () => void; readonly seenMs: number }>(),
  )
  const sharesOf = (job: string): Shares<'jobs'> => {
    const shares = sharesByJob.get(job) ?? createShares('jobs in a queue', { jobs: SHARED_MAX })
    sharesByJob.set(job, shares)
    return shares
  }
  const end = (id: string): void => {
    queuedById.get(id)?.release()
    queuedById.delete(id)
  }
  const note = (id: string, release: () => void): void => {
    queuedById.delete(id)
    queuedById.set(id, { release, seenMs: clock.monotonicMs() })
  }
  const endUnseen = (): void => {
    for (const [id, { seenMs }] of queuedById) {
      if (clock.monotonicMs() - seenMs < UNSEEN_MS_MAX) return
      end(id)
    }
  }
  return {
    /**
     * The place of a job among those of its owner, from 0; null if the owner has its share of the queue. A job that is
     * queued already stays where it is, whatever its place.
     */
    place(queued: QueuedJob, owner: string): number | null {
      endUnseen()
      const id = jobId(queued)
      const known = queuedById.get(id)
      if (known !== undefined) {
        note(id, known.release)
        return 0
      }
      const shares = sharesOf(queued.job)
      const place = shares.heldBy(owner, 'jobs')
      const release = shares.take(owner, { jobs: 1 })
      if (release === null) return null
      note(id, release)
      return place
    },
    /** The job has left its queue. */
    end: (queued: QueuedJob) => end(jobId(queued)),
    /** Redis may have lost its queues. */
    clear(): void {
      for (const id of queuedById.keys()) end(id)
    },
  }
}

/** Its first stakeholder other than the operator of the network; a contract that is unknown has itself. */
export function ownerOf(contract: Contract | null | undefined, id: ContractId): PartyId {
  if (contract == null) return id
  const { signatories, observers, payload } = contract
  const own = [...signatories, ...observers].find((party) => party !== payload['dso'])
  return own ?? String(payload['dso'])
}
