/**
 * A network for tests in one process: a real log with its writer, scan nodes on a Redis each, and a wallet
 * with a replica of its own that drives registrations. Only the synchronizer's HTTP is left out.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSystemClock, systemRandom } from '@quorumscan/base'
import type { Genesis } from '@quorumscan/consensus'
import {
  acceptRequestCommand,
  allocatePartyCommand,
  disclose,
  genesisHashOf,
  type Ordering,
  requestEntryCommand,
  tapCommand,
} from '@quorumscan/ledger'
import { createTestNetwork, testKeyPair } from '@quorumscan/ledger/testing'
import { createLogReader, createLogWriter, LOG_ACL, type LogWriter } from '@quorumscan/log'
import {
  AMOUNT_SCALE,
  type Command,
  type Contract,
  type ContractId,
  partyIdOf,
} from '@quorumscan/model'
import { Replica } from '@quorumscan/replica'
import { createSubmitter, type SubmitResult } from '@quorumscan/submit'
import { startRedis, type TestRedis } from '@quorumscan/testkit'
import type { ScanConfig } from '../config.ts'
import type { Overrides } from '../context.ts'
import { type RunningScan, startScan } from '../start.ts'

export const clock = createSystemClock()
const random = systemRandom
const PASSWORD = 'test'

export type Network = AsyncDisposable & {
  readonly genesis: Genesis
  readonly genesisHash: string
  readonly logRedis: TestRedis
  /** The Redis of each node, in the order of the genesis. */
  readonly nodeRedis: readonly TestRedis[]
  /** What a node of this network is told; `overrides` go with it. */
  config(index: number): Promise<ScanConfig>
  readonly overrides: Overrides
  startNode(index: number, options?: Partial<ScanConfig>, more?: Overrides): Promise<RunningScan>
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

export async function startNetwork(
  nodeCount: number,
  names: Partial<Genesis['names']> = {},
  /** How long ago the genesis was: with ten minutes and more, rounds close and offset 0 is pruned. */
  ageMicros = 1_000_000,
): Promise<Network> {
  const { genesis: template, scans, operators } = createTestNetwork({ nodeCount, names })
  const genesis = { ...template, recordTime: clock.nowMicros() - ageMicros }
  const genesisHash = genesisHashOf(genesis)
  const logGenesis = { ...genesis, hash: genesisHash }
  const directory = await mkdtemp(join(tmpdir(), 'qs-scan-'))
  const file = async (name: string, text: string) => {
    await writeFile(join(directory, name), text)
    return join(directory, name)
  }
  const genesisFile = await file('genesis.json', JSON.stringify(genesis))
  const passwordFile = await file('password', `${PASSWORD}\n`)
  const closing = new AbortController()

  const logRedis = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always'])
  const admin = logRedis.connect()
  for (const [user, rules] of Object.entries(LOG_ACL))
    await admin.call('ACL', ['SETUSER', user, 'on', `>${PASSWORD}`, ...rules.split(' ')])
  admin.disconnect()
  const address = (username: string) => ({
    path: logRedis.socketPath,
    username,
    password: PASSWORD,
  })
  const writer: LogWriter = await createLogWriter({
    redis: address('writer'),
    genesis: logGenesis,
    keyPair: testKeyPair('synchronizer'),
    clock,
    random,
    witnesses: null,
    signal: closing.signal,
  })
  const submit: Ordering['submit'] = (bytes) => writer.append(bytes)

  const walletRedis = await startRedis()
  const replica = await Replica.create({
    redis: { path: walletRedis.socketPath },
    genesis,
    genesisHash,
    clock,
  })
  const ordering = createLogReader({
    redis: address('reader'),
    genesis: logGenesis,
    submit,
    clock,
    random,
  })
  const following = replica.run(ordering, closing.signal)
  const nodeRedis = await Promise.all(genesis.nodes.map(() => startRedis()))

  const config = async (index: number): Promise<ScanConfig> => {
    const name = genesis.nodes[index]?.name ?? ''
    return {
      genesisFile,
      host: '127.0.0.1',
      port: 0,
      logLevel: 'silent',
      redisPath: nodeRedis[index]?.socketPath ?? '',
      logRedis: { path: logRedis.socketPath, passwordFile },
      synchronizerUrl: 'http://127.0.0.1:1',
      synchronizerTokenFile: null,
      nodeName: name,
      scanKeyFile: await file(`${name}.scan`, scans[index]?.seed ?? ''),
      operatorKeyFile: await file(`${name}.operator`, operators[index]?.seed ?? ''),
      publicUrl: null,
      rateLimit: 100_000,
      peerTokensFile: null,
    }
  }
  const overrides: Overrides = { submit }

  return {
    genesis,
    genesisHash,
    logRedis,
    nodeRedis,
    config,
    overrides,
    startNode: async (index, options = {}, more = {}) =>
      startScan({ ...(await config(index)), ...options }, { ...overrides, ...more }),
    async createWallet(hint) {
      const keyPair = testKeyPair(`wallet ${hint}`)
      const party = partyIdOf(hint, keyPair.publicKey) ?? ''
      const deps = { ordering, ledger: replica, genesisHash, keyPair, clock, random }
      const submitter = createSubmitter(deps)
      const idsOf = async (key: string): Promise<ContractId[]> =>
        (await replica.contractsByKey(key)).map(({ contractId }) => contractId)
      const rulesOf = async (entity: string) =>
        (await replica.contractsByKey(`singleton:${entity}`))[0] as Contract
      const singleton = async (entity: string) => (await rulesOf(entity)).contractId
      const run = async (actAs: readonly string[], command: Command) => {
        const rules = await Promise.all(['AnsRules', 'CoinRules'].map(rulesOf))
        const disclosed = rules.map(disclose)
        return submitter.submit(
          { userId: hint, actAs, commands: [command], disclosed },
          { signal: closing.signal, timeoutMs: 10_000 },
        )
      }
      await run([], allocatePartyCommand({ hint }))
      return {
        party,
        submit: (command) => run([party], command),
        idsOf,
        async pay({ name, url = '', description = '' }) {
          const amount = 1_000n * AMOUNT_SCALE
          const coinRules = await singleton('CoinRules')
          await run([party], tapCommand({ coinRules, receiver: party, amount }))
          const ansRules = await singleton('AnsRules')
          const entry = { ansRules, user: party, name, url, description }
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
      await writer[Symbol.asyncDispose]()
      const servers = [logRedis, walletRedis, ...nodeRedis]
      await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()))
      await rm(directory, { recursive: true, force: true })
    },
  }
}
