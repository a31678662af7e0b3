/** Everything that the synchronizer works with. */
import { openAll } from '@quorumscan/base'
import { type JoinSockets, openCometbftLog, type SpawnEngine } from '@quorumscan/cometbft'
import { confirmingNodesIn, memberOrderingIn, type SynchronizerConfig } from '@quorumscan/config'
import {
  createEntryChecker,
  createLogFeed,
  LOG_USER,
  measureLogDisk,
  type OrderedLog,
} from '@quorumscan/log'
import { readRedisAddress, watchRedis } from '@quorumscan/redis'
import { createPeerClocks, measureRedis } from '@quorumscan/runtime'
import { type AppOverrides, createAppBase } from '@quorumscan/server'
import { createAdmission } from './admission.ts'
import { createRateBudgets } from './budgets.ts'
import { type FreeBytesOf, watchDiskSpace } from './disk-space.ts'
import { measuredLog } from './metrics.ts'
import { openRedisLog } from './redis-log.ts'
import { trimLogRegularly } from './trimming.ts'

const MICROS_PER_SECOND = 1_000_000

export type ContextOverrides = AppOverrides & {
  /** Gives up waiting for Redis. */
  readonly signal?: AbortSignal
  /** Called at each start of the engine; the default starts it at once. */
  readonly spawnEngine?: SpawnEngine
  /** Passes bytes between an engine that connects and this member's engine; the default changes nothing. */
  readonly joinEngine?: JoinSockets
  /** Returns the free space on the disk of the log; the default asks the operating system. */
  readonly freeBytesOf?: FreeBytesOf
}

export type Context = Awaited<ReturnType<typeof createContext>>

/**
 * Waits for the log's Redis. Disposing commits what waits.
 *
 * @throws {LogConfigError} If it could lose what it acknowledged, or the key is not the genesis's.
 * @throws {EnvError} If fewer nodes of the genesis are configured than must confirm the clock.
 */
export async function createContext(config: SynchronizerConfig, overrides: ContextOverrides = {}) {
  const app = await createAppBase('synchronizer', config, overrides)
  const { clock, logger, genesis, genesisHash, metrics } = app
  const { ordering } = config
  const checkEntry = createEntryChecker(genesisHash)
  const { nodes, needed } = confirmingNodesIn(app.nodes, genesis)
  const operatorKeys = new Set(genesis.nodes.map(({ operatorKey }) => operatorKey))
  const createEntryBudgets = () =>
    createRateBudgets({ rates: config.entryRates, operatorKeys, clock })

  return openAll(async (resources) => {
    const clocks = resources.opened(createPeerClocks({ ...app, peers: nodes, needed }))
    const disk = resources.opened(
      await watchDiskSpace({
        directory: config.logDirectory,
        freeMibMin: config.diskFreeMibMin,
        freeBytesOf: overrides.freeBytesOf,
        clock,
        onProblem: (err) => logger.warn({ err }, 'the free disk space is unknown'),
      }),
    )
    measureLogDisk(metrics, disk.isFull)
    const user = ordering.driver === 'redis' ? LOG_USER : undefined
    const redis = await readRedisAddress(ordering.redis, user)
    measureRedis(metrics, resources.opened(watchRedis(redis)))
    const feed = resources.opened(createLogFeed({ redis, clock }))
    const openLog = async (): Promise<OrderedLog> => {
      if (ordering.driver === 'redis') {
        const { keyFile } = ordering
        const { signal = new AbortController().signal } = overrides
        return await openRedisLog(app, { keyFile, redis, feed, clocks, signal })
      }
      /** The rate budgets of entries that arrive at the mempool. */
      const { spendOfKey, chargeSender } = createEntryBudgets()
      return await openCometbftLog(app, {
        ...ordering,
        engines: () => app.enginePeers() ?? ordering.engines,
        ordering: memberOrderingIn(genesis),
        checkEntry,
        nodes,
        redis,
        charge: spendOfKey,
        chargeSender,
        assertRoom: disk.assertRoom,
        onGroup: feed.publish,
        spawnEngine: overrides.spawnEngine,
        joinEngine: overrides.joinEngine,
      })
    }
    const log = await openLog()
    resources.onClose(() => logger.info(log.head(), 'closed the log'))
    resources.opened(log)
    logger.info(log.head(), 'the log is open')
    const keepMicros = config.logKeepSeconds * MICROS_PER_SECOND
    resources.opened(trimLogRegularly(app, { nodes, keepMicros, trim: log.trim }))
    const { followerCount } = feed
    const measured = measuredLog(app, { log, followerCount, memberCount: genesis.nodes.length })
    const budgets = createEntryBudgets()
    return {
      ...app,
      config,
      clocks,
      log,
      feed,
      admission: createAdmission({ log: measured, checkEntry, budgets, clock, disk }),
      disk,
      /** Resolves after disposing; rejects when the log cannot continue (another writer, a lost end). */
      failed: log.finished,
    }
  })
}
