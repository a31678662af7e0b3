/** Everything that the synchronizer works with. */
import { openAll, readKeyPair } from '@quorumscan/base'
import { type JoinSockets, openCometbftLog, type SpawnEngine } from '@quorumscan/cometbft'
import {
  confirmingNodesIn,
  memberOrderingIn,
  openNodeTokens,
  type SynchronizerConfig,
} from '@quorumscan/config'
import {
  createEntryChecker,
  createLogFeed,
  LOG_USER,
  measureLogDisk,
  type OrderedLog,
} from '@quorumscan/log'
import { readRedisAddress, watchRedis } from '@quorumscan/redis'
import {
  createPeerClient,
  createPeerClocks,
  measureRedis,
  type Peer,
  watchRedisMemory,
} from '@quorumscan/runtime'
import { type AppOverrides, createAppBase } from '@quorumscan/server'
import { type Genesis, memberSetOf, STATE_BYTES_PER_DAY } from '@quorumscan/verifier'
import { createAdmission } from './admission.ts'
import { createRateBudgets } from './budgets.ts'
import { countEntries, measuredLog } from './metrics.ts'
import { openRedisLog } from './redis-log.ts'
import { type FreeBytesOf, watchRoom } from './room.ts'
import { createStateJudge } from './state-judge.ts'
import { trimLogRegularly } from './trimming.ts'

export type Overrides = AppOverrides & {
  /** Gives up waiting for Redis. */
  readonly signal?: AbortSignal
  /** Called at each start of the engine; the default starts it at once. */
  readonly spawnEngine?: SpawnEngine
  /** Whether an engine that hangs is ended. Default: yes. In a cluster `pause` is a fault. */
  readonly endsHungEngine?: boolean
  /** Passes bytes between an engine that connects and this member's engine; the default changes nothing. */
  readonly joinEngine?: JoinSockets
  /** Returns the free space on the disk of the log; the default asks the operating system. */
  readonly freeBytesOf?: FreeBytesOf
}

export type SynchronizerParts = Awaited<ReturnType<typeof openSynchronizer>>

/**
 * Waits for the log's Redis. Disposing commits what waits.
 *
 * @throws {LogConfigError} If it could lose what it acknowledged, or the key is not the genesis's.
 * @throws {EnvError} If fewer nodes of the genesis are configured than must confirm the clock.
 */
export async function openSynchronizer(config: SynchronizerConfig, overrides: Overrides = {}) {
  const app = await createAppBase('synchronizer', config, overrides)
  const { clock, logger, genesis, genesisHash, metrics, trust } = app
  const { ordering } = config
  const checkEntry = createEntryChecker(genesisHash)
  const { nodes, needed } = confirmingNodesIn(app.nodes, genesis)
  const set = memberSetOf(genesis)
  const operatorKeys = new Set(set.members.map(({ operatorKey }) => operatorKey))
  const createEntryBudgets = () =>
    createRateBudgets({
      rates: config.entryRates,
      stateBytesPerDay: genesis.stateBytesPerDay ?? STATE_BYTES_PER_DAY,
      operatorKeys,
      clock,
    })

  return openAll(async (resources) => {
    const clocks = resources.opened(
      createPeerClocks({ peers: nodes, needed, clock, logger, metrics, trust }),
    )
    const user = ordering.driver === 'redis' ? LOG_USER : undefined
    const redis = await readRedisAddress(ordering.redis, user)
    const usage = resources.opened(watchRedis(redis))
    measureRedis(metrics, usage)
    const memory = resources.opened(await watchRedisMemory({ redis: usage, clock, metrics }))
    const room = resources.opened(
      await watchRoom({
        directory: config.logDirectory,
        freeMibMin: config.diskFreeMibMin,
        freeBytesOf: overrides.freeBytesOf,
        memory,
        ordering: ordering.driver,
        shares: clocks.memoryShares,
        faulty: set.f,
        clock,
        onProblem: (err) => logger.warn({ err }, 'the free disk space is unknown'),
      }),
    )
    measureLogDisk(metrics, room.isFull)
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
        engine: ordering.engine,
        engines: () => app.enginePeers() ?? ordering.engines,
        ordering: memberOrderingIn(genesis),
        checkEntry,
        nodes,
        redis,
        charge: spendOfKey,
        chargeSender,
        assertRoom: room.assertRoom,
        onGroup: feed.publish,
        spawnEngine: overrides.spawnEngine,
        endsHungEngine: overrides.endsHungEngine ?? true,
        joinEngine: overrides.joinEngine,
      })
    }
    const log = await openLog()
    resources.onClose(() => logger.info(log.head(), 'closed the log'))
    resources.opened(log)
    logger.info(log.head(), 'the log is open')
    const trimming = { keepSeconds: config.logKeepSeconds, isFull: room.isFull, trim: log.trim }
    resources.opened(trimLogRegularly(app, { nodes, ...trimming }))
    const { followerCount } = feed
    const measured = measuredLog(app, { log, followerCount, set })
    const budgets = createEntryBudgets()
    const peerTokenByOrigin = openNodeTokens(config.nodeTokensFile, { clock, logger })
    const client = resources.opened(createPeerClient({ clock, trust, peerTokenByOrigin }))
    const isAlone = ordering.driver === 'redis'
    const judge = resources.opened(
      createStateJudge({
        nodes: isAlone ? nodes : await ownNodeIn(genesis, { ordering, nodes }),
        needed: isAlone ? set.f + 1 : 1,
        endpointsOf: clocks.endpointsOf,
        client,
        head: log.head,
        clock,
      }),
    )
    return {
      app,
      config,
      clocks,
      log,
      feed,
      admission: createAdmission({
        log: measured,
        checkEntry,
        budgets,
        clock,
        room,
        judge,
        count: countEntries(metrics),
      }),
      room,
      memory,
      /** Resolves after disposing; rejects when the log cannot continue (another writer, a lost end). */
      failed: log.finished,
    }
  })
}

/** The node of the member whose voting key this synchronizer has; none for a validator's. */
async function ownNodeIn(
  genesis: Genesis,
  options: { readonly ordering: SynchronizerConfig['ordering']; readonly nodes: readonly Peer[] },
): Promise<readonly Peer[]> {
  const { ordering, nodes } = options
  if (ordering.driver !== 'cometbft' || ordering.engine.votingKeyFile === null) return []
  const { publicKey } = await readKeyPair(ordering.engine.votingKeyFile)
  const own = memberOrderingIn(genesis).validators.find(({ key }) => key === publicKey)
  return nodes.filter(({ name }) => name === own?.name)
}
