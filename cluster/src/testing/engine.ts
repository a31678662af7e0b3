/** The engine that tests of members who order together start. */
import { messageOf } from '../cluster-error.ts'
import { findEngine } from '../engine/find-engine.ts'

const found = await findEngine(process.env).catch((error: unknown) => {
  if (process.env['CI']) throw error
  return { why: `SKIPPED  tests of members that order the log together: ${messageOf(error)}` }
})

/** A line that says why those tests are left out here, and how to have them; null: there is an engine. */
export const whyNoEngine: string | null = typeof found === 'string' ? null : found.why

/** Null: there is none; then those tests are skipped, never where CI is set. */
export const enginePath: string | null = typeof found === 'string' ? found : null

if (whyNoEngine !== null) process.stderr.write(`${whyNoEngine}\n`)
