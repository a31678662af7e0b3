/** The engine that tests of members who order together start. */
import { provided } from '@quorumscan/testkit'
import { messageOf } from '../cluster-error.ts'
import { findEngine } from '../engine/find-engine.ts'

const found = await findEngine(process.env).then(
  (path) => ({ path }),
  (error: unknown) => ({ why: messageOf(error) }),
)

/** Null where it is missing: those tests are skipped, never where CI is set. */
export const enginePath: string | null = provided('cometbft', found)

/** A line that says why those tests are left out here, and how to have them; null: there is an engine. */
export const whyNoEngine: string | null =
  'why' in found ? `SKIPPED  tests of members that order the log together: ${found.why}` : null
