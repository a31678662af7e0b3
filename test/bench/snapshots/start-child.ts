/** A node with an empty Redis, until it could prove what it stores. */
import { createSystemClock } from '@quorumscan/base'
import { createLogger, createMetrics, createSnapshotStore, type Peer } from '@quorumscan/http'
import { Replica } from '@quorumscan/replica'
import { createTestNetwork, untilTrue } from '@quorumscan/testkit'
import { answer, childArgument } from '../child.ts'
import { lateClock, OPERATOR_JOBS } from '../names/grow.ts'

export type StartArgument = { readonly socketPath: string; readonly peers: readonly Peer[] }
export type Started = {
  readonly offset: number
  readonly seconds: number
  readonly cpuSeconds: number
}

const { socketPath, peers } = childArgument<StartArgument>()
const network = createTestNetwork()
const { genesis, genesisHash } = network
const clock = createSystemClock()
const startedMs = clock.monotonicMs()
const snapshots = await createSnapshotStore({
  genesis,
  genesisHash,
  own: null,
  peers,
  clock,
  logger: createLogger({ name: 'bench', level: 'error' }),
  metrics: createMetrics({ clock }),
})
const replica = await Replica.create({
  redis: { path: socketPath },
  genesis,
  genesisHash,
  dueJobs: OPERATOR_JOBS,
  clock: lateClock(network),
  snapshots,
  onProblem: (error) => process.stderr.write(`${error.stack}\n`),
})
const stop = new AbortController()
replica.run(
  {
    submit: async () => {},
    async *follow({ signal }) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  },
  stop.signal,
)
await untilTrue('the node to be back', () =>
  replica.proofs.statePoints().some(({ offset }) => offset > 0),
)
const { user, system } = process.cpuUsage()
answer({
  offset: replica.head().offset,
  seconds: (clock.monotonicMs() - startedMs) / 1_000,
  cpuSeconds: (user + system) / 1e6,
} satisfies Started)
process.exit(0)
