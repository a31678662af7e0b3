/** The engine that tests of ordering members start. */

import { findEngine } from '@quorumscan/operator/engine'
import { messageOf } from '@quorumscan/runtime'
import { provided } from '@quorumscan/testkit'

const found = await findEngine(process.env).then(
  (path) => ({ path }),
  (error: unknown) => ({ why: messageOf(error) }),
)

/** Null where it is missing: those tests are skipped, never where CI is set. */
export const enginePath: string | null = provided('cometbft', found)

/** Why what needs an engine is left out here, and how to have one; null: there is one. */
export const whyNoEngine: string | null = 'why' in found ? found.why : null
