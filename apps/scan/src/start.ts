/** One running scan node. */
import type { ScanConfig } from '@quorumscan/config'
import { type Extending, type RunningApp, startApp } from '@quorumscan/server'
import { type Context, type ContextOverrides, createContext } from './context.ts'
import { createServer } from './server.ts'

export type Overrides = ContextOverrides & Extending<Context>
export type RunningScan = RunningApp

/** Listens at once and answers at the head it has; `/readyz` says when it has caught up. */
export async function startScan(
  config: ScanConfig,
  overrides: Overrides = {},
): Promise<RunningScan> {
  const context = await createContext(config, overrides)
  const running = await startApp(context, createServer, overrides)
  context.publishAddress(config.publicUrl ?? running.url)
  return running
}
