/** The engine that tests of members who order together start. */
import { messageOf } from '../cluster-error.ts'
import { findEngine } from '../engine/find-engine.ts'

/** Null: there is none; then those tests are skipped, never where CI is set. */
export const enginePath: string | null = await findEngine(process.env).catch((error: unknown) => {
  if (process.env['CI']) throw error
  process.stderr.write(`Members that order together are SKIPPED: ${messageOf(error)}\n`)
  return null
})
