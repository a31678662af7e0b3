/** Everything that the synchronizer works with. */
import { EnvError, openAll, type Resources, readParsed } from '@quorumscan/base'
import { type JoinSockets, openCometbftLog, type SpawnEngine } from '@quorumscan/cometbft'
import type { SynchronizerConfig } from '@quorumscan/config'
import { createJudge, createLogFeed, type Judge, LOG_USER, measureLogRoom } from '@quorumscan/log'
import { readRedisAddress, watchRedis } from '@quorumscan/redis'
import {
  createPeerClocks,
  measureRedis,
  type Peer,
  type PeerClocks,
  parsePeerTokens,
} from '@quorumscan/runtime'
import { type AppOverrides, beginApp, type HttpServer } from '@quorumscan/server'
import { type Genesis, maxFaulty } from '@quorumscan/verifier'
import { createAdmission } from './admission.ts'
import { type Budgets, createBudgets } from './budgets.ts'
import { type DiskSpace, type FreeBytesOf, watchDiskSpace } from './disk-space.ts'
import { measuredLog } from './metrics.ts'
import { openRedisLog } from './redis-log.ts'
import { trimLogRegularly } from './trimming.ts'

export type Overrides = AppOverrides & {
  /** Gives up waiting for Redis. */
  readonly signal?: AbortSignal
  /** Starts the engine, whenever it is to be; the default does so at once. */
  readonly spawnEngine?: SpawnEngine
  /** Passes bytes between an engine that connects and the own one; the default changes nothing. */
  readonly joinEngine?: JoinSockets
  /** Asked for the room on the disk of the log; the default asks the operating system. */
  readonly freeBytesOf?: FreeBytesOf
  /** Called when everything is there, before the process listens: may add to the server. */
  readonly extend?: (parts: { readonly server: HttpServer }) => void
}

export type Context = Awaited<ReturnType<typeof createContext>>

/**
 * Waits for the log's Redis. Disposing commits what waits.
 *
 * @throws {LogConfigError} If it could lose what it acknowledged, or the key is not the genesis's.
 * @throws {EnvError} If fewer nodes of the genesis are configured than must vouch for the clock.
 */
export async function createContext(config: SynchronizerConfig, overrides: Overrides) {
  const app = await beginApp('synchronizer', config, overrides)
  const { clock, logger, genesis, genesisHash } = app
  const judge = createJudge(genesisHash)
  /** Of those who follow the log, and may make the replicas work more. */
  const peerTokens = await readParsed(config.peerTokensFile, parsePeerTokens)
  const needed = maxFaulty(genesis.nodes.length) + 1
  const peers = nodesOf(genesis, config.nodes, needed)

  return openAll(async (resources) => {
    const clocks = resources.opened(createPeerClocks({ ...app, peers, needed }))
    const disk = resources.opened(
      await watchDiskSpace({
        directory: config.logDirectory,
        freeMibMin: config.diskFreeMibMin,
        freeBytesOf: overrides.freeBytesOf,
        clock,
        onProblem: (error) => logger.warn({ err: error }, 'the room on the disk is not known'),
      }),
    )
    measureLogRoom(app.metrics, disk.isFull)
    const createEntryBudgets = () =>
      createBudgets({
        rates: config.entryRates,
        operatorKeys: new Set(genesis.nodes.map(({ operatorKey }) => operatorKey)),
        clock,
      })
    const { feed, log } = await openLog(app, {
      ordering: config.ordering,
      createEntryBudgets,
      judge,
      clocks,
      disk,
      resources,
      nodes: peers,
      overrides,
    })
    logger.info(log.head(), 'the log is open')
    resources.opened(
      trimLogRegularly({
        ...app,
        network: app,
        nodes: peers,
        keepMicros: config.logKeepSeconds * MICROS_PER_SECOND,
        trim: log.trim,
      }),
    )
    const admission = createAdmission({
      log: measuredLog(log, {
        metrics: app.metrics,
        followerCount: feed.followerCount,
        memberCount: genesis.nodes.length,
        clock,
      }),
      judge,
      budgets: createEntryBudgets(),
      clock,
      disk,
    })
    return {
      ...app,
      config,
      clocks,
      log,
      feed,
      admission,
      disk,
      peerTokens,
      async [Symbol.asyncDispose]() {
        await resources[Symbol.asyncDispose]()
        logger.info(log.head(), 'closed the log')
      },
    }
  })
}

/** What orders the log, and how its followers have it. */
async function openLog(
  app: Awaited<ReturnType<typeof beginApp>>,
  options: {
    readonly ordering: SynchronizerConfig['ordering']
    readonly createEntryBudgets: () => Budgets
    readonly judge: Judge
    readonly clocks: PeerClocks
    readonly disk: DiskSpace
    readonly resources: Resources
    readonly nodes: readonly Peer[]
    readonly overrides: Overrides
  },
) {
  const { ordering, resources, overrides, judge, nodes } = options
  const { clock, genesis } = app
  const user = ordering.driver === 'redis' ? LOG_USER : undefined
  const redis = await readRedisAddress(ordering.redis, user)
  measureRedis(app.metrics, resources.opened(watchRedis(redis)))
  const feed = resources.opened(createLogFeed({ redis, clock }))
  if (ordering.driver === 'redis') {
    const { keyFile } = ordering
    const { signal = new AbortController().signal } = overrides
    const log = await openRedisLog(app, { ...options, keyFile, redis, feed, signal })
    return { feed, log: resources.opened(log) }
  }
  if (genesis.ordering.driver !== 'cometbft')
    throw new EnvError('QS_ENGINE_HOME is set, and the genesis knows no engines')
  /** Of the keys of what other members were offered. */
  const budgets = options.createEntryBudgets()
  const log = await openCometbftLog(app, {
    ...ordering,
    ordering: genesis.ordering,
    judge,
    nodes,
    redis,
    charge: budgets.admitKey,
    chargeSender: budgets.chargeSender,
    assertRoom: options.disk.assertRoom,
    onGroup: feed.publish,
    spawnEngine: overrides.spawnEngine,
    joinEngine: overrides.joinEngine,
  })
  return { feed, log: resources.opened(log) }
}

const MICROS_PER_SECOND = 1_000_000

/** Each counts by its name in the genesis, so that nobody counts twice. */
function nodesOf(genesis: Genesis, nodes: readonly Peer[], needed: number): readonly Peer[] {
  const urlByName = new Map(nodes.map(({ name, url }) => [name, url]))
  for (const name of urlByName.keys())
    if (!genesis.nodes.some((node) => node.name === name))
      throw new EnvError(`QS_NODES: the genesis has no node ${JSON.stringify(name)}`)
  if (urlByName.size < needed)
    throw new EnvError(
      `QS_NODES must name ${needed} nodes of the genesis, which vouch for the clock`,
    )
  return [...urlByName].map(([name, url]) => ({ name, url }))
}
