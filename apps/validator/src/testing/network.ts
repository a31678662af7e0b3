/** For tests: a network of real scan nodes in one process, and the configuration of a validator of it. */
import { createDevelopmentToken } from '@quorumscan/auth'
import { createKeyPair, fromHex } from '@quorumscan/base'
import type { ValidatorConfig } from '@quorumscan/config'
import { DEFAULT_AUDIENCE } from '@quorumscan/model'
import {
  type Network,
  type NetworkRules,
  startNetwork as startScanNetwork,
} from '@quorumscan/scan/testing'
import { send, startRedis, type TestRedis, untilTrue } from '@quorumscan/testkit'

/** Tokens outlast every jump in time. */
const TOKEN_SECONDS = 1_000_000_000

export type TestNetwork = AsyncDisposable &
  Pick<
    Network,
    'genesis' | 'genesisHash' | 'clock' | 'advance' | 'holdNodes' | 'peers' | 'createWallet'
  > & {
    readonly config: ValidatorConfig
    /** The validator's. */
    readonly redis: TestRedis
    /** Keeps the log from the validator, until what it returns is called. */
    holdValidator(): () => void
    readonly scans: readonly {
      stop(): Promise<void>
      /** Where it was. */
      start(): Promise<void>
      /** Starts it, stopped, at another port, which it makes known by the ledger alone. */
      moveTo(port: number): Promise<void>
    }[]
    /** Whether the nodes receive new log entries, and run their jobs; true at first. */
    setWorking(isWorking: boolean): void
    token(user: string): Promise<string>
  }

/** One node confirms payments like many, and is cheaper. */
export async function startNetwork(
  nodeCount = 1,
  options: NetworkRules = {},
): Promise<TestNetwork> {
  const network = await startScanNetwork(nodeCount, options)
  const { genesis, clock, advance, holdNodes, file } = network
  const redis = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always'])
  const nodes = await network.startNodes()
  const scans = nodes.map((first, index) => {
    const { port } = new URL(first.url)
    let node: AsyncDisposable | null = first
    const startAt = async (port: number) => {
      const publicUrl = `http://127.0.0.1:${port}`
      node = await network.startNode(index, { port, publicUrl, nodes: network.peers })
    }
    return {
      async stop() {
        const running = node
        node = null
        await running?.[Symbol.asyncDispose]()
      },
      start: () => startAt(Number(port)),
      moveTo: startAt,
    }
  })
  await untilTrue('all addresses', async () => {
    const { scans } = (await send(`${nodes[0]?.url}/v0/scans`)).body
    return scans[0].scans.length === nodeCount
  })
  const secret = createKeyPair().seed
  const config: ValidatorConfig = {
    ...network.shared,
    redis: { place: { path: redis.socketPath } },
    participantKeyFile: await file('participant', createKeyPair().seed),
    seeds: nodes.map(({ url }) => url),
    tokens: { kind: 'shared-secret', secretFile: await file('jwt', secret) },
    audience: DEFAULT_AUDIENCE,
    networkName: 'localnet',
    trustRule: null,
    tokenLifetimeSecondsMax: null,
    nodeTokensFile: null,
    allowPrivateAddresses: true,
    isLossAccepted: false,
  }
  let release = () => {}
  return {
    genesis,
    genesisHash: network.genesisHash,
    peers: network.peers,
    clock,
    advance,
    holdNodes,
    createWallet: network.createWallet,
    config,
    redis,
    holdValidator: network.holdOthers,
    scans,
    setWorking(isWorking) {
      release()
      if (!isWorking) release = holdNodes()
    },
    token: (user) =>
      createDevelopmentToken({
        secret: fromHex(secret),
        user,
        ttlSeconds: TOKEN_SECONDS,
        audience: DEFAULT_AUDIENCE,
        clock,
      }),
    async [Symbol.asyncDispose]() {
      await Promise.all(scans.map((scan) => scan.stop()))
      await redis[Symbol.asyncDispose]()
      await network[Symbol.asyncDispose]()
    },
  }
}
