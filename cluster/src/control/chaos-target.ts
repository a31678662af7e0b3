/** The cluster as a chaos run sees it. */
import { type Clock, toHex } from '@quorumscan/base'
import { askSignedStates, createToken, parseTtl } from '@quorumscan/operator'
import { ask, CommandError } from '@quorumscan/runtime'
import type { LogLine } from '../chaos/history.ts'
import type { ChaosTarget } from '../chaos/target.ts'
import type { Cluster } from '../cluster.ts'
import { openClusterLog } from '../log-reader.ts'
import type { Prepared } from '../prepare.ts'

const LOG_BATCH = 1000
const LOG_TIMEOUT_MS = 30_000
const EVIDENCE_TIMEOUT_MS = 20_000
/** Longer than the longest run. */
const TOKEN_TTL = '4h'

export function createChaosTarget(options: {
  readonly cluster: Cluster
  readonly prepared: Prepared
  readonly clock: Clock
}): ChaosTarget {
  const { cluster, prepared, clock } = options
  const { genesis, directory } = prepared
  return {
    validatorUrl: `http://127.0.0.1:${prepared.ports.validator}`,
    token: (user) => createToken(directory, { user, ttlSeconds: parseTtl(TOKEN_TTL), clock }),
    status: () => cluster.status(),
    inject: (spec, durationMs) => cluster.inject(spec, durationMs),
    heal: (selection) => cluster.heal(selection),
    // Refused while the log cannot be read: then nothing happened. Whether the node is back is looked at.
    wipe: ({ node, disk }) => (disk ? cluster.wipeDisk(node) : cluster.wipe(node)).catch(() => {}),
    async readLog(throughOffset) {
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
    signedStates: async (after) => {
      const { nodes } = cluster.status()
      return await askSignedStates(after, { genesis, nodes })
    },
    evidence: () => askEvidence(`http://127.0.0.1:${prepared.ports.validator}`),
  }
}

/** How many pairs of contradicting statements the scan proxy keeps of each node. */
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
