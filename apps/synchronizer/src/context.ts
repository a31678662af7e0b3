/** Everything that the synchronizer works with. */
import { readFile } from 'node:fs/promises'
import { keyPairFromSeed, readSecret } from '@quorumscan/base'
import { type AppOverrides, beginApp, type HttpServer, parsePeerTokens } from '@quorumscan/http'
import { createLogWriter } from '@quorumscan/log'
import { createAdmission } from './admission.ts'
import { createBudgets } from './budgets.ts'
import type { SynchronizerConfig } from './config.ts'
import { watchDiskSpace } from './disk-space.ts'
import { measuredWriter } from './metrics.ts'

/** The ACL user of the log's Redis that may append. */
const LOG_WRITER = 'writer'

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
 */
export async function createContext(config: SynchronizerConfig, overrides: Overrides) {
  const app = await beginApp('synchronizer', config, overrides)
  const { clock, random, logger, genesis, genesisHash } = app
  /** Of submitters who may make the replicas work more. */
  const peerTokens = parsePeerTokens(
    config.peerTokensFile === null ? '' : await readFile(config.peerTokensFile, 'utf8'),
  )
  const writer = await createLogWriter({
    redis: {
      path: config.logRedis.path,
      username: LOG_WRITER,
      password: await readSecret(config.logRedis.passwordFile),
    },
    genesis: {
      hash: genesisHash,
      recordTime: genesis.recordTime,
      synchronizerKey: genesis.synchronizerKey,
    },
    keyPair: keyPairFromSeed(await readSecret(config.keyFile)),
    clock,
    random,
    signal: overrides.signal ?? new AbortController().signal,
    onProblem: (error) => logger.warn({ err: error }, 'the log is not available'),
  })
  logger.info(writer.head(), 'the log is open')
  const disk = await watchDiskSpace({
    directory: config.logDirectory,
    freeMibMin: config.diskFreeMibMin,
    clock,
    onProblem: (error) => logger.warn({ err: error }, 'the room on the disk is not known'),
  })
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
    writer,
    admission,
    disk,
    peerTokens,
    async [Symbol.asyncDispose]() {
      await disk[Symbol.asyncDispose]()
      await writer[Symbol.asyncDispose]()
      logger.info(writer.head(), 'stopped')
    },
  }
}
