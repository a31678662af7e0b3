/** One running synchronizer. */
import type { Running } from '@quorumscan/base'
import type { SynchronizerConfig } from '@quorumscan/config'
import { serve } from '@quorumscan/server'
import { createContext, type Overrides } from './context.ts'
import { createServer } from './server.ts'

export type RunningSynchronizer = Running & {
  /** Where it listens, without a trailing slash. */
  readonly url: string
  /** Resolves after disposing; rejects when the log forbids it to go on (another writer, a lost end). */
  readonly failed: Promise<void>
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
  const running = await serve(context, (listening) => {
    const server = createServer(context, listening)
    overrides.extend?.({ server })
    return server
  })
  return { ...running, failed: context.log.finished }
}
