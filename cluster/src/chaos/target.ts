/** What a chaos run needs of a cluster. */
import { type Clock, toHex } from '@quorumscan/base'
import { askSignedStates, createToken, parseTtl } from '@quorumscan/operator'
import { ask, CommandError } from '@quorumscan/runtime'
import type { Cluster } from '../rig/cluster.ts'
import { openClusterLog } from '../rig/log-reader.ts'
import type { Prepared } from '../rig/prepare.ts'
import type { LogLine } from './history.ts'

const LOG_BATCH = 1000
const LOG_TIMEOUT_MS = 30_000
const EVIDENCE_TIMEOUT_MS = 20_000
/** Longer than the longest run. */
const TOKEN_TTL = '4h'

export type ChaosTarget = ReturnType<typeof createChaosTarget>

export function createChaosTarget(options: {
  readonly cluster: Pick<Cluster, 'status'> & {
    readonly faults: Pick<Cluster['faults'], 'apply' | 'heal'>
    readonly disks: Pick<Cluster['disks'], 'wipe' | 'wipeDisk'>
  }
  readonly prepared: Prepared
  readonly clock: Clock
}) {
  const { cluster, prepared, clock } = options
  const { genesis, directory } = prepared
  const validatorUrl = `http://127.0.0.1:${prepared.ports.validator}`
  const ttlSeconds = parseTtl(TOKEN_TTL)
  return {
    validatorUrl,
    token: (user: string) => createToken(directory, { user, ttlSeconds, clock }),
    status: cluster.status.bind(cluster),
    inject: cluster.faults.apply.bind(cluster.faults),
    heal: cluster.faults.heal.bind(cluster.faults),
    /**
     * Deletes a replica, or all that a member has on its disk. Refused while the log cannot be read: then nothing
     * happened. Whether the node is back is looked at.
     */
    wipe: async ({ node, disk }: { readonly node: string; readonly disk: boolean }) => {
      await (disk ? cluster.disks.wipeDisk(node) : cluster.disks.wipe(node)).catch(() => {})
    },
    /** The whole log, up to an offset at least. @throws {Error} If it does not come in time. */
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
      throw new CommandError(`the log did not come up to offset ${throughOffset} in time`)
    },
    /** What the nodes signed of the state after an offset. */
    signedStates: (after: number) =>
      askSignedStates(after, { genesis, nodes: cluster.status().nodes }),
    evidence: () => askEvidence(validatorUrl),
  }
}

/** How many pairs of contradicting statements the scan proxy keeps of each node. @throws {CommandError} If it gives none. */
async function askEvidence(validatorUrl: string): Promise<{ node: string; pairs: number }[]> {
  const url = `${validatorUrl}/v0/scan-proxy/evidence`
  const { status, body, reason } = await ask(url, { timeoutMs: EVIDENCE_TIMEOUT_MS })
  if (status !== 200)
    throw new CommandError(`the validator tells no evidence: ${reason ?? `status ${status}`}`)
  const { evidence } = body as { evidence: readonly { signer: string }[] }
  const signers = evidence.map(({ signer }) => signer)
  return [...new Set(signers)]
    .sort()
    .map((node) => ({ node, pairs: signers.filter((signer) => signer === node).length }))
}
