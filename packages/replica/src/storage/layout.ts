/** How one replica is stored in Redis: what its bytes depend on in addition to the log. */
import { sha256Hex, utf8 } from '@quorumscan/base'
import { createContractCodec } from '@quorumscan/ledger'
import type { Genesis } from '@quorumscan/verifier'

export function createLayout(options: {
  readonly genesis: Genesis
  /** Hex. */
  readonly genesisHash: string
  /** All jobs unless given. */
  readonly dueJobs?: readonly string[]
}) {
  const { genesis, genesisHash, dueJobs } = options
  const jobs = dueJobs === undefined ? null : new Set(dueJobs)
  return {
    codec: createContractCodec({ genesisHash, dso: genesis.dso }),
    /** Whether it stores the due work of the job: a node has no use for the work of others (Rule 7). */
    hasDue: (job: string) => jobs === null || jobs.has(job),
    /** Hash of the jobs, hex: a replica written for other jobs is to be wiped. */
    dueHash: sha256Hex(utf8(JSON.stringify(jobs === null ? null : [...jobs].sort()))),
  }
}

export type Layout = ReturnType<typeof createLayout>
