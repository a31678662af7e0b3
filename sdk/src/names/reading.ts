/** Outcomes of lookups as answers of what is read again and again. */
import { transient } from '../errors.ts'
import type { Expired, Found, Invalid, LookupOutcome, Mismatch } from './lookup-types.ts'
import { outcomeError } from './outcome-error.ts'
import type { Reading } from './watch-state.ts'

/** @throws {QuorumscanError} The error of an outcome without an answer. */
export function readingOf<T>(
  what: string,
  outcome: LookupOutcome | Invalid,
  toValue: (found: Found | Expired | Mismatch) => T,
): Reading<T> {
  if (outcome.kind === 'invalid') throw outcome.error
  if (!('entry' in outcome)) throw outcomeError(what, outcome)
  const { entry, basis, recordTime, clockSkewMs } = outcome
  if (outcome.kind === 'mismatch') {
    const message = `${outcome.entry.name} belongs to ${outcome.entry.party}, not to ${outcome.expectedParty}.`
    throw transient('NAME_MISMATCH', message, { details: { entry } })
  }
  const facts = { basis, recordTime, clockSkewMs }
  if (!('changed' in outcome)) return { ...facts, value: null, validUntil: null, changed: null }
  const { changed } = outcome
  return { ...facts, value: toValue(outcome), validUntil: outcome.entry.expiresAt, changed }
}
