/** The engine that tests of ordering members start. */

import { findEngine } from '@quorumscan/operator/engine'
import { messageOf } from '@quorumscan/runtime'
import { provided } from '@quorumscan/testkit'

const found = await findEngine(process.env).then(
  (path) => ({ path }),
  (error: unknown) => ({ why: messageOf(error) }),
)

/** Null if the engine is missing. Then its tests are skipped, except in CI, where they fail. */
export const enginePath: string | null = provided('cometbft', found)

/** Why engine tests are skipped, and how to install the engine; null: it is installed. */
export const whyNoEngine: string | null = 'why' in found ? found.why : null
