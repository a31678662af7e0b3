import { checkAgreement } from './checkers/agreement.ts'
import { checkAvailability } from './checkers/availability.ts'
import type { Violation } from './checkers/checker.ts'
import { checkFreshness } from './checkers/freshness.ts'
import { checkMonotonicReads } from './checkers/monotony.ts'
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

/** All that is wrong with a run, in the order of the checkers. */
export function check(run: SimRun): Violation[] {
  return CHECKERS.flatMap((checker) => checker(run))
}

/** One line a violation, for a person. */
export function describeViolation({ rule, read, why }: Violation): string {
  const { client, lookup, options, startMs, endMs, outcome } = read
  const { signal: _, ...asked } = options
  const when = `${startMs.toFixed(1)}..${endMs.toFixed(1)} ms`
  return `${rule}: client ${client} ${JSON.stringify(lookup)} ${JSON.stringify(asked)} ${when} ${outcome.kind}: ${why}`
}
