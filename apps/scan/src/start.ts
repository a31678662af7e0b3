/** One running scan node. */
import type { Running } from '@quorumscan/base'
import type { ScanConfig } from '@quorumscan/config'
import { serve } from '@quorumscan/server'
import { createContext, type Overrides } from './context.ts'
import { createServer } from './server.ts'

export type RunningScan = Running & {
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
  const context = await createContext(config, overrides)
  const running = await serve(context, (listening) => {
    const server = createServer(context, listening)
    overrides.extend?.({ server, context })
    return server
  })
  context.publishAddress(config.publicUrl ?? running.url)
  return { ...running, failed: context.failed }
}
