/** One running synchronizer. */
import type { SynchronizerConfig } from '@quorumscan/config'
import { type Extending, type RunningApp, startApp } from '@quorumscan/server'
import { type Context, type ContextOverrides, createContext } from './context.ts'
import { createServer } from './server.ts'

export type Overrides = ContextOverrides & Extending<Context>
export type RunningSynchronizer = RunningApp

/**
 * Waits for the log's Redis, then listens. Disposing answers what is in progress and commits what waits.
 *
 * @throws {LogConfigError} If Redis could lose what it acknowledged, or the key is not the genesis's.
 */
export async function startSynchronizer(
  config: SynchronizerConfig,
  overrides: Overrides = {},
): Promise<RunningSynchronizer> {
  return startApp(await createContext(config, overrides), createServer, overrides)
}
