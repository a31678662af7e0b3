/** Outcomes in calls that return values. It imports only types, because pages without this client load it as well. */
import type { SpliceAnswer, SpliceOutcome } from './splice-outcome.ts'

/** @throws {QuorumscanError} If the outcome is not an answer. */
export function decided<T>(outcome: SpliceOutcome<T>): SpliceAnswer<T> {
  if (outcome.kind === 'failed') throw outcome.error
  return outcome
}
