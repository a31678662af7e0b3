/** A cluster as a chaos run uses it. */
import { type Clock, toHex } from '@quorumscan/base'
import { askSignedStates, createToken } from '@quorumscan/operator'
import { ask, CommandError } from '@quorumscan/runtime'
import type { Cluster } from '../../rig/cluster.ts'
import type { Prepared } from '../../rig/prepare.ts'
import { openClusterLog } from '../watch/cluster-log.ts'
import type { LogLine } from './history.ts'

const LOG_BATCH = 1000
const LOG_TIMEOUT_MS = 30_000
const EVIDENCE_TIMEOUT_MS = 20_000

export type ChaosTarget = ReturnType<typeof createChaosTarget>

/** Methods except `wipe` throw a CommandError if the cluster refuses or does not answer. */
export function createChaosTarget(cluster: Cluster, prepared: Prepared, clock: Clock) {
  const { genesis, directory, validatorUrl } = prepared
  return {
    validatorUrl,
    token: (user: string) => createToken(directory, { user, clock }),
    status: cluster.status.bind(cluster),
    inject: cluster.faults.apply.bind(cluster.faults),
    heal: cluster.faults.heal.bind(cluster.faults),
    /**
     * Deletes a replica, or all data of a member. A refusal, as while the log cannot be read, has no effect and is
     * ignored: the run checks whether the node is up again.
     */
    async wipe({ node, disk }: { readonly node: string; readonly disk: boolean }): Promise<null> {
      await (disk ? cluster.disks.wipeDisk(node) : cluster.disks.wipe(node)).catch(() => {})
      return null
    },
    /** The whole log, at least up to an offset. @throws {Error} If it does not arrive in time. */
    async readLog(throughOffset: number): Promise<readonly LogLine[]> {
      await using reader = openClusterLog(prepared, clock)
      const log: LogLine[] = []
      const signal = AbortSignal.timeout(LOG_TIMEOUT_MS)
      const batches = reader.follow({ from: 0, expected: null, batchEntriesMax: LOG_BATCH, signal })
      for await (const batch of batches) {
        for (const { offset, recordTime, bytes } of batch)
          log.push({ offset, recordTime, bytes: toHex(bytes) })
        if (log.length >= throughOffset) return log
      }
      throw new CommandError(`the log did not reach offset ${throughOffset} in time`)
    },
    /** The signed statements of the nodes after an offset. */
    signedStates: (after: number) =>
      askSignedStates(after, { genesis, nodes: cluster.status().nodes }),
    /** How many pairs of conflicting statements the scan proxy has of each node. @throws {CommandError} */
    async evidence(): Promise<{ node: string; pairs: number }[]> {
      const url = `${validatorUrl}/v0/scan-proxy/evidence`
      const { status, body, reason } = await ask(url, { timeoutMs: EVIDENCE_TIMEOUT_MS })
      if (status !== 200)
        throw new CommandError(`the validator returns no evidence: ${reason ?? `status ${status}`}`)
      const { evidence } = body as { evidence: readonly { signer: string }[] }
      const signers = evidence.map(({ signer }) => signer)
      const pairsOf = (node: string) => signers.filter((signer) => signer === node).length
      return [...new Set(signers)].sort().map((node) => ({ node, pairs: pairsOf(node) }))
    },
  }
}
