/** One running synchronizer. */
import type { AddressInfo } from 'node:net'
import { startTracing } from '@quorumscan/http'
import type { SynchronizerConfig } from './config.ts'
import { createContext, type Overrides } from './context.ts'
import { createServer } from './server.ts'

export type RunningSynchronizer = AsyncDisposable & {
  /** Where it listens, without a trailing slash. */
  readonly url: string
  /** Resolves after disposing; rejects when the log forbids it to go on (another writer, a lost end). */
  readonly finished: Promise<void>
}

/**
 * Waits for the log's Redis, then listens. Disposing answers what is under way and commits what waits.
 *
 * @throws {LogConfigError} If Redis could lose what it acknowledged, or the key is not the genesis's.
 */
export async function startSynchronizer(
  config: SynchronizerConfig,
  overrides: Overrides = {},
): Promise<RunningSynchronizer> {
  const context = await createContext(config, overrides)
  const tracer = await startTracing({
    service: 'synchronizer',
    endpoint: config.tracesEndpoint ?? null,
  })
  const { logger, writer } = context
  try {
    // Listening on TCP when it is asked for, so the address is no text.
    // Null once the server is closed.
    const port = () => (server.server.address() as AddressInfo | null)?.port ?? config.port
    const server = createServer(context, port, tracer)
    overrides.extend?.({ server })
    await server.listen({ host: config.host, port: config.port })
    const host = config.host.includes(':') ? `[${config.host}]` : config.host
    const url = `http://${host}:${port()}`
    logger.info({ url, ...writer.head() }, 'listening')
    return {
      url,
      finished: writer.finished,
      async [Symbol.asyncDispose]() {
        await server.close()
        await writer[Symbol.asyncDispose]()
        await tracer?.[Symbol.asyncDispose]()
        logger.info(writer.head(), 'stopped')
      },
    }
  } catch (error) {
    await writer[Symbol.asyncDispose]()
    throw error
  }
}
