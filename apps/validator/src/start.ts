/** One running validator. */
import type { AddressInfo } from 'node:net'
import { startTracing } from '@quorumscan/http'
import type { ValidatorConfig } from './config.ts'
import { Context, type Overrides } from './context.ts'
import { createServer } from './server.ts'

export type RunningValidator = AsyncDisposable & {
  /** Where it listens, without a trailing slash. */
  readonly url: string
}

/**
 * Starts to listen at once; `/readyz` says when wallets can be used. Disposing answers what is under way
 * first.
 */
export async function startValidator(
  config: ValidatorConfig,
  overrides: Overrides = {},
): Promise<RunningValidator> {
  const context = await Context.create(config, overrides)
  const tracer = await startTracing({
    service: 'validator',
    endpoint: config.tracesEndpoint ?? null,
  })
  try {
    // Listening on TCP when it is asked for, so the address is no text.
    // Null once the server is closed.
    const port = () => (server.server.address() as AddressInfo | null)?.port ?? config.port
    const server = createServer(context, port, tracer)
    overrides.extend?.({ server, context })
    await server.listen({ host: config.host, port: config.port })
    const host = config.host.includes(':') ? `[${config.host}]` : config.host
    const url = `http://${host}:${port()}`
    context.logger.info({ url }, 'listening')
    return {
      url,
      async [Symbol.asyncDispose]() {
        await server.close()
        await context[Symbol.asyncDispose]()
        await tracer?.[Symbol.asyncDispose]()
      },
    }
  } catch (error) {
    await context[Symbol.asyncDispose]()
    throw error
  }
}
