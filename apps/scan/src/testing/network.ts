/**
 * A network for tests in one process: a real log with its writer behind HTTP, scan nodes on a Redis each, and
 * wallets with a replica of their own that drive registrations. Tests can advance its time, which is the machine's otherwise.
 */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { synchronizerRoutes } from '@quorumscan/api'
import { type Clock, createSystemClock, type KeyPair, systemRandom } from '@quorumscan/base'
import type { ScanConfig } from '@quorumscan/config'
import { PLAIN_CONNECTIONS } from '@quorumscan/config'
import {
  acceptRequestCommand,
  allocatePartyCommand,
  ansRules,
  confirmSetConfigCommand,
  disclose,
  payloadOf,
  requestEntryCommand,
  svPartyOf,
  tapCommand,
} from '@quorumscan/ledger'
import {
  createLogFeed,
  createLogWriter,
  createOrderingClient,
  LOG_RULES,
  LOG_USER,
  type LogWriter,
} from '@quorumscan/log'
import {
  AMOUNT_SCALE,
  type Amount,
  type Command,
  type Contract,
  type ContractId,
  type Micros,
  partyIdOf,
} from '@quorumscan/model'
import { openReplica } from '@quorumscan/replica'
import type { Peer } from '@quorumscan/runtime'
import type { RunningApp } from '@quorumscan/server'
import { buildServer } from '@quorumscan/server'
import { createSubmitter, type SubmitResult } from '@quorumscan/submit'
import {
  createDirectory,
  createTestNetwork,
  createTickingClock,
  freePort,
  startRedis,
  type TestRedis,
  testKeyPair,
  untilTrue,
} from '@quorumscan/testkit'
import { type Genesis, type GenesisNode, quorumOf } from '@quorumscan/verifier'
import { startScan } from '../server.ts'
import { createGate } from './gate.ts'

const random = systemRandom
const PASSWORD = 'test'
/** Processes whose log can be held back. */
const nodeTokenOf = (index: number) => `token-of-node-${index}-of-a-network`
const OTHER_TOKEN = 'token-of-other-processes'

export type Network = AsyncDisposable & {
  readonly genesis: Genesis
  readonly genesisHash: string
  readonly logRedis: TestRedis
  /** The Redis of each node, in the order of the genesis. */
  readonly nodeRedis: readonly TestRedis[]
  /** The time of every process of the network. */
  readonly clock: Clock
  /** Advances time. Resolves when record time has advanced as well. */
  advance(micros: Micros): Promise<void>
  /** Adds any entry. */
  append(bytes: Uint8Array): Promise<void>
  /** Keeps the log from the nodes, or from some of them, until what it returns is called. */
  holdNodes(indices?: readonly number[]): () => void
  /** Keeps it from the processes with the `shared` configuration, likewise. */
  holdOthers(): () => void
  /** The configuration that all processes of the network share. */
  readonly shared: Pick<
    ScanConfig,
    | 'genesisFile'
    | 'host'
    | 'port'
    | 'connections'
    | 'logLevel'
    | 'tracesEndpoint'
    | 'peersFile'
    | 'nodes'
    | 'rateLimit'
  > & { readonly log: ScanConfig['log'] & { readonly tokenFile: string } }
  /** The configuration of a node. */
  config(index: number): Promise<ScanConfig>
  /** The path of a new file that holds the text. */
  file(name: string, text: string): Promise<string>
  startNode(
    index: number,
    options?: Partial<ScanConfig>,
    more?: Parameters<typeof startScan>[1],
  ): Promise<RunningApp>
  /** Where `startNodes` starts them. */
  readonly peers: readonly Peer[]
  /** Starts all nodes, which know each other. */
  startNodes(): Promise<RunningApp[]>
  /** Sets the fee of a name by the confirmations of a quorum; resolves when the wallets' replica has applied them. */
  setFee(entryFee: Amount): Promise<void>
  /** The wallet of a user of this network. */
  createWallet(hint: string): Promise<Wallet>
}

export type Wallet = {
  readonly party: string
  /** Requests the name and pays for it; the super-validators do the rest. */
  pay(entry: { name: string; url?: string; description?: string }): Promise<void>
  /** Resolves when the wallet's replica has applied the command. */
  submit(command: Command): Promise<SubmitResult>
  /** Ids of active contracts that the ledger filed under the key. */
  idsOf(key: string): Promise<readonly ContractId[]>
}

/** Of the genesis. */
export type NetworkRules = {
  readonly names?: Partial<Genesis['names']>
  readonly stateBytesPerDay?: number
}

export async function startNetwork(
  nodeCount: number,
  rules: NetworkRules = {},
  /** How long ago the genesis was: with ten minutes and more, rounds close and offset 0 is pruned. */
  ageMicros = 1_000_000,
): Promise<Network> {
  const ended = new AbortController()
  const { clock, writerClock, advance } = createMovableClocks(ended.signal)
  const recordTime = clock.nowMicros() - ageMicros
  const { genesis, genesisHash, scans, operators, synchronizer } = createTestNetwork({
    ...rules,
    nodeCount,
    recordTime,
  })
  const logGenesis = { ...genesis, hash: genesisHash }
  const { path: directory, ...temporary } = createDirectory()
  const file = async (name: string, text: string) => {
    await writeFile(join(directory, name), text, { mode: 0o600 })
    return join(directory, name)
  }
  const genesisFile = await file('genesis.json', JSON.stringify(genesis))
  const closing = new AbortController()

  const logRedis = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always'])
  const admin = logRedis.connect()
  await admin.call('ACL', ['SETUSER', LOG_USER, 'on', `>${PASSWORD}`, ...LOG_RULES.split(' ')])
  admin.disconnect()
  const redis = { path: logRedis.socketPath, username: LOG_USER, password: PASSWORD }
  const feed = createLogFeed({ redis, clock })
  const writer: LogWriter = await createLogWriter({
    redis,
    genesis: logGenesis,
    keyPair: synchronizer,
    clock: writerClock,
    random,
    confirmingNodes: null,
    signal: closing.signal,
    onCommitted: feed.publish,
  })
  const nodeGates = genesis.nodes.map(createGate)
  const otherGate = createGate()
  const gateByToken = new Map(nodeGates.map((gate, index) => [nodeTokenOf(index), gate]))
  const { submitEntry, followLog } = synchronizerRoutes
  const orderingServer = buildServer({
    routes: { submitEntry, followLog },
    handlers: {
      submitEntry: async ({ body }) => {
        // A request of no bytes has no body at all.
        await writer.append(body ?? new Uint8Array())
        return { body: { accepted: true as const } }
      },
      followLog: async (request) => {
        const { query, requestId, signal } = request
        // Each stream is a peer's of its own: nodes of a test come and go.
        const stream = await feed.open({ ...query, peer: requestId, signal })
        const gate = gateByToken.get(request.header('x-peer-token') ?? '') ?? otherGate
        return { body: gate.pass(stream) }
      },
    },
    prefix: null,
    rateLimit: { unitsPerSecond: 100_000, peerTokens: [...gateByToken.keys(), OTHER_TOKEN] },
  })
  const url = await orderingServer.listen({ host: '127.0.0.1', port: 0 })

  const walletRedis = await startRedis()
  const replica = await openReplica({
    redis: { path: walletRedis.socketPath },
    genesis,
    genesisHash,
    clock,
  })
  const ordering = createOrderingClient({
    log: {
      submit: (bytes) => writer.append(bytes),
      open: (request) => feed.open({ ...request, peer: 'the wallets' }),
    },
    genesis: logGenesis,
    clock,
    random,
  })
  const following = replica.run(ordering, closing.signal)
  const nodeRedis = await Promise.all(genesis.nodes.map(() => startRedis()))

  const shared = {
    genesisFile,
    host: '127.0.0.1',
    port: 0,
    logLevel: 'silent',
    tracesEndpoint: null,
    peersFile: null,
    connections: PLAIN_CONNECTIONS,
    nodes: [],
    log: { url, tokenFile: await file('other', OTHER_TOKEN), certificate: null },
    rateLimit: 100_000,
  }
  const config = async (index: number): Promise<ScanConfig> => {
    const name = genesis.nodes[index]?.name ?? ''
    return {
      ...shared,
      log: { ...shared.log, tokenFile: await file(`${name}.log`, nodeTokenOf(index)) },
      redis: { place: { path: nodeRedis[index]?.socketPath ?? '' } },
      nodeName: name,
      scanKeyFile: await file(`${name}.scan`, scans[index]?.seed ?? ''),
      operatorKeyFile: await file(`${name}.operator`, operators[index]?.seed ?? ''),
      publicUrl: null,
      peerTokensFile: null,
      snapshotDirectory: null,
      rewards: null,
    }
  }

  const startNode: Network['startNode'] = async (index, options = {}, overrides = {}) =>
    startScan({ ...(await config(index)), ...options }, { clock, ...overrides })
  const ports = await Promise.all(genesis.nodes.map(freePort))
  const peers = genesis.nodes.map(({ name }, index) => ({
    name,
    url: `http://127.0.0.1:${ports[index]}`,
  }))

  const rulesOf = async (entity: string) =>
    (await replica.contractsByKey(`singleton:${entity}`))[0] as Contract

  /** Submits one command of a participant. */
  const submittingAs = (userId: string, keyPair: KeyPair) => {
    const deps = { ordering, ledger: replica, genesisHash, keyPair, clock, random }
    const submitter = createSubmitter(deps)
    return async (actAs: readonly string[], command: Command) => {
      const disclosed = (await Promise.all(['AnsRules', 'CoinRules'].map(rulesOf))).map(disclose)
      return submitter.submit(
        { userId, actAs, commands: [command], disclosed },
        { signal: closing.signal, timeoutMs: 10_000 },
      )
    }
  }

  return {
    genesis,
    genesisHash,
    logRedis,
    nodeRedis,
    clock,
    async advance(micros) {
      advance(micros)
      // No submission, but an entry like any other: it has the new time.
      await writer.append(Uint8Array.of(0))
      const now = clock.nowMicros()
      await untilTrue('record time to advance', () => replica.head().recordTime + micros > now)
    },
    append: (bytes) => writer.append(bytes),
    holdNodes(indices = [...nodeGates.keys()]) {
      const releases = indices.map((index) => nodeGates[index]?.hold())
      return () => {
        for (const release of releases) release?.()
      }
    },
    holdOthers: otherGate.hold,
    shared,
    config,
    file,
    startNode,
    peers,
    startNodes: () =>
      Promise.all(ports.map((port, index) => startNode(index, { port, nodes: peers }))),
    async setFee(entryFee) {
      const [old, dso] = await Promise.all(['AnsRules', 'DsoRules'].map(rulesOf))
      const config = { ...payloadOf(ansRules, old as Contract).config, entryFee }
      for (const [index, keyPair] of operators.slice(0, quorumOf(nodeCount)).entries()) {
        const confirmer = svPartyOf(genesis.nodes[index] as GenesisNode)
        const run = submittingAs(`sv-${index + 1}`, keyPair)
        const rules = {
          dsoRules: dso?.contractId as ContractId,
          ansRules: old?.contractId as ContractId,
        }
        await run([confirmer], confirmSetConfigCommand({ ...rules, confirmer, config }))
      }
    },
    async createWallet(hint) {
      const keyPair = testKeyPair(`wallet ${hint}`)
      const party = partyIdOf(hint, keyPair.publicKey) ?? ''
      const idsOf = async (key: string): Promise<ContractId[]> =>
        (await replica.contractsByKey(key)).map(({ contractId }) => contractId)
      const singleton = async (entity: string) => (await rulesOf(entity)).contractId
      const run = submittingAs(hint, keyPair)
      await run([], allocatePartyCommand({ hint }))
      return {
        party,
        submit: (command) => run([party], command),
        idsOf,
        async pay({ name, url = '', description = '' }) {
          const amount = 1_000n * AMOUNT_SCALE
          const coinRules = await singleton('CoinRules')
          await run([party], tapCommand({ coinRules, receiver: party, amount }))
          const rules = await singleton('AnsRules')
          const entry = { ansRules: rules, user: party, name, url, description }
          await run([party], requestEntryCommand(entry))
          const [request] = await idsOf(`party:SubscriptionRequest:${party}`)
          const inputs = await idsOf(`party:Coin:${party}`)
          await run([party], acceptRequestCommand({ request: request as ContractId, inputs }))
        },
      }
    },
    async [Symbol.asyncDispose]() {
      closing.abort(new Error('the test is over'))
      await following
      await replica[Symbol.asyncDispose]()
      await feed[Symbol.asyncDispose]()
      orderingServer.server.closeAllConnections()
      await orderingServer.close()
      await writer[Symbol.asyncDispose]()
      const servers = [logRedis, walletRedis, ...nodeRedis]
      await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()))
      temporary[Symbol.dispose]()
      ended.abort()
    },
  }
}

/**
 * The machine's time of day, plus the time by which tests advanced it. Deadlines of `clock` wait for this process, which a
 * busy machine may stop. Those of the writer do not: its checkpoints tell all replicas, whose age is judged by the time of
 * day, that the log goes on.
 */
function createMovableClocks(signal: AbortSignal): {
  readonly clock: Clock
  readonly writerClock: Clock
  advance(micros: Micros): void
} {
  const machine = createSystemClock()
  const { monotonicMs, delay } = createTickingClock(machine.nowMicros(), signal)
  let moved = 0
  const nowMicros = () => machine.nowMicros() + moved
  return {
    clock: { monotonicMs, delay, nowMicros },
    writerClock: { ...machine, nowMicros },
    advance(micros) {
      moved += micros
    },
  }
}
