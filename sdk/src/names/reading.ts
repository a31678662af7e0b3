/** Outcomes of lookups as answers of what is read again and again. */
import type { LookupAnswer, LookupOutcome } from './lookup-outcome.ts'
import type { FoundEntry, NameEntry } from './lookup-types.ts'
import type { Reading } from './watch-state.ts'

/**
 * @param toValue - Makes what is shown of the answer.
 * @throws {QuorumscanError} The error of an outcome without an answer.
 */
export function readingOf<T>(
  outcome: LookupOutcome,
  toValue: (entry: NameEntry, outcome: LookupAnswer) => T,
): Reading<T> {
  if (outcome.kind === 'failed') throw outcome.error
  const { value, basis, recordTime, clockSkewMs } = outcome
  const facts = { basis, recordTime, clockSkewMs }
  if (value === null) return { ...facts, value, validUntil: null, changed: null }
  const changed = outcome.kind === 'changed' ? outcome.previous : null
  return { ...facts, value: toValue(value, outcome), validUntil: value.expiresAt, changed }
}

/** The entry of an answer, with what its reader must know of it. */
export function toFound(entry: NameEntry, outcome: LookupAnswer): FoundEntry {
  const { basis, recordTime, clockSkewMs } = outcome
  const changed = outcome.kind === 'changed' ? outcome.previous : null
  return { ...entry, changed, basis, recordTime, clockSkewMs }
}
