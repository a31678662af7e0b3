/** The engine that tests of ordering members start. */

import { findEngine } from '@quorumscan/operator/engine'
import { messageOf } from '@quorumscan/runtime'
import { type Found, provided, required } from '@quorumscan/testkit'

const found: Found = await findEngine(process.env).then(
  (path) => ({ path }),
  (error: unknown) => ({ why: messageOf(error) }),
)

/** Null if the engine is missing. */
export const enginePath: string | null = provided('cometbft', found)

/** Before all tests of the engine: they are skipped if it is missing, except in CI, where they fail. */
export function requireEngine(): void {
  required('cometbft', found)
}

/** Why engine tests are skipped, and how to install the engine; null: it is installed. */
export const whyNoEngine: string | null = 'why' in found ? found.why : null
