import { checkAgreement } from './checkers/agreement.ts'
import { checkAvailability } from './checkers/availability.ts'
import type { Violation } from './checkers/checker.ts'
import { checkFreshness } from './checkers/freshness.ts'
import { checkMonotonicReads } from './checkers/monotonic-reads.ts'
import { checkSupport } from './checkers/support.ts'
import { checkTruth } from './checkers/truth.ts'
import type { SimRun } from './simulate.ts'

const CHECKERS = [
  checkTruth,
  checkMonotonicReads,
  checkFreshness,
  checkSupport,
  checkAgreement,
  checkAvailability,
]

/** All violations of a run, in the order of the checkers. */
export function check(run: SimRun): Violation[] {
  return CHECKERS.flatMap((checker) => checker(run))
}

/** One line of a report for a violation. */
export function describeViolation({ rule, read, why }: Violation): string {
  const { client, lookup, options, startMs, endMs, outcome } = read
  const { signal: _, ...shown } = options
  const when = `${startMs.toFixed(1)}..${endMs.toFixed(1)} ms`
  return `${rule}: client ${client} ${JSON.stringify(lookup)} ${JSON.stringify(shown)} ${when} ${outcome.kind}: ${why}`
}
