/** One running scan node. */
import type { AddressInfo } from 'node:net'
import { startTracing } from '@quorumscan/http'
import type { ScanConfig } from './config.ts'
import { Context, type Overrides } from './context.ts'
import { createServer } from './server.ts'

export type RunningScan = AsyncDisposable & {
  /** Where it listens, without a trailing slash. */
  readonly url: string
  /** Resolves with the reason when the node cannot go on: then dispose, and start it anew. */
  readonly failed: Promise<unknown>
}

/**
 * Listens at once and answers at the head it has; `/readyz` says when it has caught up. Disposing answers
 * what is under way first.
 */
export async function startScan(
  config: ScanConfig,
  overrides: Overrides = {},
): Promise<RunningScan> {
  const context = await Context.create(config, overrides)
  const tracer = await startTracing({
    service: config.nodeName,
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
    context.publishAddress(config.publicUrl ?? url)
    return {
      url,
      failed: context.failed,
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
