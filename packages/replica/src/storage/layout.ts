/** How one replica lies in Redis: what its bytes depend on beside the log. */
import { sha256Hex, utf8 } from '@quorumscan/base'
import { type ContractCodec, createContractCodec } from '@quorumscan/ledger'
import type { Genesis } from '@quorumscan/verifier'

export type Layout = {
  readonly codec: ContractCodec
  /** Whether it keeps what is due for the job: a node has no use for the work of others (Rule 7). */
  readonly hasDue: (job: string) => boolean
  /** Of what `hasDue` depends on, hex: a replica written for other jobs is to be wiped. */
  readonly dueHash: string
}

export function createLayout(options: {
  readonly genesis: Genesis
  /** Hex. */
  readonly genesisHash: string
  /** All jobs unless given. */
  readonly dueJobs?: readonly string[]
}): Layout {
  const { genesis, genesisHash, dueJobs } = options
  const jobs = dueJobs === undefined ? null : new Set(dueJobs)
  return {
    codec: createContractCodec({ genesisHash, dso: genesis.dso }),
    hasDue: (job) => jobs === null || jobs.has(job),
    dueHash: sha256Hex(utf8(JSON.stringify(jobs === null ? null : [...jobs].sort()))),
  }
}
