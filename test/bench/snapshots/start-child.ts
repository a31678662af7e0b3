/** Starts a node with an empty Redis, until it can prove its state and follows the log. */
import { once } from 'node:events'
import { assert, createSystemClock } from '@quorumscan/base'
import type { Ordering } from '@quorumscan/ledger'
import { openReplica } from '@quorumscan/replica'
import { createLogger, createMetrics, createPeerClient, type Peer } from '@quorumscan/runtime'
import { createSnapshotStore } from '@quorumscan/snapshots'
import { createTestNetwork } from '@quorumscan/testkit'
import { answer, childArgument } from '../../support/child.ts'
import { lateClock, OPERATOR_JOBS } from '../names/grow.ts'

export type StartArgument = { readonly socketPath: string; readonly peers: readonly Peer[] }
export type Started = {
  readonly offset: number
  readonly cpuSeconds: number
  /** Maximum memory of the process. */
  readonly memoryMib: number
}

const { socketPath, peers } = childArgument<StartArgument>()
const network = createTestNetwork()
const { genesis, genesisHash } = network
const clock = createSystemClock()
const snapshots = await createSnapshotStore({
  genesis,
  genesisHash,
  own: null,
  peers,
  client: createPeerClient({ clock }),
  clock,
  logger: createLogger({ name: 'bench', level: 'error' }),
  metrics: createMetrics({ clock }),
})
const replica = await openReplica({
  redis: { path: socketPath },
  genesis,
  genesisHash,
  dueJobs: OPERATOR_JOBS,
  clock: lateClock(network),
  snapshots,
  onProblem: (error) => process.stderr.write(`${error.stack}\n`),
})
const offset = await new Promise<number>((resolve) => {
  const ordering: Ordering = {
    submit: () => Promise.reject(new Error('this log is read-only')),
    async *follow({ from, signal }) {
      if (from > 0) resolve(from)
      await once(signal, 'abort')
      yield* []
    },
  }
  replica.run(ordering, new AbortController().signal)
})
assert(
  replica.proofs.statePoints().some((point) => point.offset === offset),
  'the replica can prove its state',
)
const { user, system } = process.cpuUsage()
answer({
  offset,
  cpuSeconds: (user + system) / 1e6,
  memoryMib: process.resourceUsage().maxRSS / 1_024,
} satisfies Started)
process.exit(0)
