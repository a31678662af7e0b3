/** Takes a snapshot of one replica for two members, and serves it until the process ends. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createSystemClock, type KeyPair } from '@quorumscan/base'
import { openReplica } from '@quorumscan/replica'
import { createLogger, createMetrics, createPeerClient, type Peer } from '@quorumscan/runtime'
import {
  createSnapshotStore,
  encodeManifest,
  type SnapshotStore,
  toWireOffer,
} from '@quorumscan/snapshots'
import { createTestNetwork, untilTrue } from '@quorumscan/testkit'
import { answer, childArgument } from '../../support/child.ts'
import { OPERATOR_JOBS } from '../names/grow.ts'

export type TakeArgument = { readonly socketPath: string; readonly directory: string }
export type Taken = {
  readonly peers: readonly Peer[]
  readonly bytes: number
  readonly seconds: number
  readonly cpuSeconds: number
}

const HOUR_MICROS = 3_600_000_000
const { socketPath, directory } = childArgument<TakeArgument>()
const network = createTestNetwork()
const { genesis, genesisHash } = network
const system = createSystemClock()
const logger = createLogger({ name: 'bench', level: 'error' })
const client = createPeerClient({ clock: system })

const storeOf = (index: number) =>
  createSnapshotStore({
    genesis,
    genesisHash,
    own: {
      name: `sv-${index + 1}`,
      sign: (network.scans[index] as KeyPair).sign,
      directory: join(directory, String(index)),
    },
    peers: [],
    client,
    clock: system,
    logger,
    metrics: createMetrics({ clock: system }),
  })
const [one, two] = [await storeOf(0), await storeOf(1)]

let now = 0
await using replica = await openReplica({
  redis: { path: socketPath },
  genesis,
  genesisHash,
  dueJobs: OPERATOR_JOBS,
  clock: { ...system, nowMicros: () => now },
  snapshots: one,
})
const head = replica.head()
now = head.recordTime + HOUR_MICROS
const entry = { offset: head.offset + 1, recordTime: now, bytes: new Uint8Array(0) }
const stop = new AbortController()
const running = replica.run(
  {
    submit: async () => {},
    async *follow({ signal }) {
      await untilTrue('the state to be loaded', () => replica.proofs.statePoints().length > 0)
      startedMs = system.monotonicMs()
      startedCpu = process.cpuUsage()
      yield [entry]
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  },
  stop.signal,
)
let startedMs = 0
let startedCpu = process.cpuUsage()
await untilTrue('the snapshot', () => one.stored().length > 0)
const seconds = (system.monotonicMs() - startedMs) / 1_000
const { user, system: kernel } = process.cpuUsage(startedCpu)
stop.abort()
await running

const [held] = one.stored()
if (held === undefined) throw new Error('the store has no snapshot')
await two.take?.(held, contentOf(one))
answer({
  peers: [await serve(one, 'sv-1'), await serve(two, 'sv-2')],
  bytes: held.manifest.contentBytes,
  seconds,
  cpuSeconds: (user + kernel) / 1e6,
} satisfies Taken)

async function* contentOf(store: SnapshotStore) {
  for (const { offset, manifest } of store.stored())
    for (const index of manifest.pieceHashes.keys())
      yield (await store.piece(offset, index)) ?? new Uint8Array(0)
}

async function serve(store: SnapshotStore, name: string): Promise<Peer> {
  const server = createServer(async (request, response) => {
    const [, , , offset, kind, index] = (request.url ?? '').split('/')
    const found = store.stored().find((one) => one.offset === Number(offset))
    if (offset === undefined)
      response.end(JSON.stringify({ snapshots: store.stored().map(toWireOffer) }))
    else if (kind === 'manifest') response.end(found && encodeManifest(found.manifest))
    else response.end((await store.piece(Number(offset), Number(index))) ?? undefined)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return { name, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}
