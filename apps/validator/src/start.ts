/** One running validator. */
import type { Running } from '@quorumscan/base'
import type { ValidatorConfig } from '@quorumscan/config'
import { serve } from '@quorumscan/server'
import { createContext, type Overrides } from './context.ts'
import { createServer } from './server.ts'

export type RunningValidator = Running & {
  /** Where it listens, without a trailing slash. */
  readonly url: string
  /** Resolves with the reason when the validator cannot go on: then dispose, and start it again. */
  readonly failed: Promise<unknown>
}

/**
 * Starts to listen at once; `/readyz` says when wallets can be used. Disposing answers what is under way
 * first.
 */
export async function startValidator(
  config: ValidatorConfig,
  overrides: Overrides = {},
): Promise<RunningValidator> {
  const context = await createContext(config, overrides)
  const running = await serve(context, (listening) => {
    const server = createServer(context, listening)
    overrides.extend?.({ server, context })
    return server
  })
  return { ...running, failed: context.failed }
}
