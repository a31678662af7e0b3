/** Everything that the synchronizer works with. */
import { keyPairFromSeed, openAll, readOptional, readSecret } from '@quorumscan/base'
import { type Genesis, maxFaulty } from '@quorumscan/consensus'
import {
  type AppOverrides,
  beginApp,
  createPeerClocks,
  type HttpServer,
  type Peer,
  parsePeerTokens,
} from '@quorumscan/http'
import { createLogFeed, createLogWriter } from '@quorumscan/log'
import { createAdmission } from './admission.ts'
import { createBudgets } from './budgets.ts'
import { watchChain } from './chain-check.ts'
import type { SynchronizerConfig } from './config.ts'
import { watchDiskSpace } from './disk-space.ts'
import { measuredWriter } from './metrics.ts'

export type Overrides = AppOverrides & {
  /** Gives up waiting for Redis. */
  readonly signal?: AbortSignal
  /** Called when everything is there, before the process listens: may add to the server. */
  readonly extend?: (parts: { readonly server: HttpServer }) => void
}

export type Context = Awaited<ReturnType<typeof createContext>>

/**
 * Waits for the log's Redis. Disposing commits what waits.
 *
 * @throws {LogConfigError} If it could lose what it acknowledged, or the key is not the genesis's.
 * @throws {Error} If fewer nodes of the genesis are configured than must vouch for the clock.
 */
export async function createContext(config: SynchronizerConfig, overrides: Overrides) {
  const app = await beginApp('synchronizer', config, overrides)
  const { clock, random, logger, genesis, genesisHash } = app
  /** Of those who follow the log, and may make the replicas work more. */
  const peerTokens = parsePeerTokens(await readOptional(config.peerTokensFile))
  const needed = maxFaulty(genesis.nodes.length) + 1
  const peers = nodesOf(genesis, config.nodes, needed)
  const password = await readSecret(config.logRedis.passwordFile)
  const keyPair = keyPairFromSeed(await readSecret(config.keyFile))

  return openAll(async (resources) => {
    const clocks = resources.opened(createPeerClocks({ ...app, peers, needed }))
    const log = {
      redis: { path: config.logRedis.path, password },
      genesis: { ...genesis, hash: genesisHash },
    }
    const feed = resources.opened(createLogFeed({ ...log, clock }))
    const writer = resources.opened(
      await createLogWriter({
        ...log,
        keyPair,
        clock,
        random,
        witnesses: {
          needed,
          enough: genesis.nodes.length - needed + 1,
          readings: clocks.readings,
        },
        signal: overrides.signal ?? new AbortController().signal,
        onCommitted: feed.publish,
        onProblem: (error) => logger.warn({ err: error }, 'the log is not available'),
      }),
    )
    logger.info(writer.head(), 'the log is open')
    const chain = resources.opened(watchChain({ ...app, log }))
    const disk = resources.opened(
      await watchDiskSpace({
        directory: config.logDirectory,
        freeMibMin: config.diskFreeMibMin,
        clock,
        onProblem: (error) => logger.warn({ err: error }, 'the room on the disk is not known'),
      }),
    )
    const admission = createAdmission({
      writer: measuredWriter(writer, app.metrics, clock),
      genesisHash,
      budgets: createBudgets({
        rates: config.entryRates,
        operatorKeys: new Set(genesis.nodes.map(({ operatorKey }) => operatorKey)),
        clock,
      }),
      clock,
      disk,
    })
    return {
      ...app,
      config,
      clocks,
      writer,
      feed,
      chain,
      admission,
      disk,
      peerTokens,
      async [Symbol.asyncDispose]() {
        await resources[Symbol.asyncDispose]()
        logger.info(writer.head(), 'stopped')
      },
    }
  })
}

/** Each counts by its name in the genesis, so that nobody counts twice. */
function nodesOf(genesis: Genesis, nodes: readonly Peer[], needed: number): readonly Peer[] {
  const urlByName = new Map(nodes.map(({ name, url }) => [name, url]))
  for (const name of urlByName.keys())
    if (!genesis.nodes.some((node) => node.name === name))
      throw new Error(`QS_NODES: the genesis has no node ${JSON.stringify(name)}`)
  if (urlByName.size < needed)
    throw new Error(`QS_NODES must name ${needed} nodes of the genesis, which vouch for the clock`)
  return [...urlByName].map(([name, url]) => ({ name, url }))
}
