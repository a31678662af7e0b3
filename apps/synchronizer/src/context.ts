/** Everything that the synchronizer works with. */
import { readFile } from 'node:fs/promises'
import {
  type Clock,
  createSystemClock,
  keyPairFromSeed,
  type Random,
  systemRandom,
} from '@quorumscan/base'
import { hashGenesis, parseGenesis } from '@quorumscan/consensus'
import {
  createLogger,
  createMetrics,
  type HttpServer,
  type Logger,
  type Metrics,
} from '@quorumscan/http'
import { createLogWriter, type LogWriter } from '@quorumscan/log'
import { type Admission, createAdmission } from './admission.ts'
import type { SynchronizerConfig } from './config.ts'
import { measuredWriter } from './metrics.ts'

/** The ACL user of the log's Redis that may append. */
const LOG_WRITER = 'writer'

/** What tests and `main.ts` hand in. */
export type Overrides = {
  readonly clock?: Clock
  readonly random?: Random
  readonly logger?: Logger
  /** Gives up waiting for Redis. */
  readonly signal?: AbortSignal
  /** Called when everything is there, before the process listens: may add to the server. */
  readonly extend?: (parts: { readonly server: HttpServer }) => void
}

export type Context = {
  readonly config: SynchronizerConfig
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  /** Closed by whoever made the context. */
  readonly writer: LogWriter
  readonly admission: Admission
}

/**
 * Waits for the log's Redis.
 *
 * @throws {LogConfigError} If it could lose what it acknowledged, or the key is not the genesis's.
 */
export async function createContext(
  config: SynchronizerConfig,
  overrides: Overrides,
): Promise<Context> {
  const clock = overrides.clock ?? createSystemClock()
  const logger = overrides.logger ?? createLogger({ name: 'synchronizer', level: config.logLevel })
  const genesis = parseGenesis(JSON.parse(await readFile(config.genesisFile, 'utf8')))
  const genesisHash = await hashGenesis(genesis)
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
    random: overrides.random ?? systemRandom,
    signal: overrides.signal ?? new AbortController().signal,
    onProblem: (error) => logger.warn({ err: error }, 'the log is not available'),
  })
  const metrics = createMetrics({ clock })
  const admission = createAdmission({
    writer: measuredWriter(writer, metrics, clock),
    genesisHash,
    entriesPerSecond: config.keyRateLimit,
    clock,
  })
  return { config, clock, logger, metrics, writer, admission }
}

async function readSecret(path: string): Promise<string> {
  return (await readFile(path, 'utf8')).trim()
}
