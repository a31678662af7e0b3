/** One running validator. */
import type { ValidatorConfig } from '@quorumscan/config'
import { type AppOverrides, type Extending, type RunningApp, startApp } from '@quorumscan/server'
import { type Context, createContext } from './context.ts'
import { createServer } from './server.ts'

export type Overrides = AppOverrides & Extending<Context>
export type RunningValidator = RunningApp

/** Starts to listen at once; `/readyz` says when wallets can be used. */
export async function startValidator(
  config: ValidatorConfig,
  overrides: Overrides = {},
): Promise<RunningValidator> {
  return startApp(await createContext(config, overrides), createServer, overrides)
}
