/** Compares what our code does with what a suite expects, and prints a row for each: passed, failed, exceptions. */
import { expect } from 'vitest'

export type Case<Value> = {
  readonly name: string
  readonly expected: Value
  readonly actual: Value
}

/** Cases in which we differ from the suite on purpose. */
export type Exception<Of> = {
  readonly reason: string
  readonly covers: (one: Of) => boolean
}

const SHOWN_MAX = 20

/**
 * Expects of each case what the suite expects, or one of the exceptions. An exception that no case needs is a failure,
 * and so is a suite without cases.
 *
 * @param title - The suite, and what it is run against.
 */
export function expectAll<Value, Of extends Case<Value>>(
  title: string,
  cases: readonly Of[],
  exceptions: readonly Exception<Of>[] = [],
): void {
  const different = cases.filter(({ expected, actual }) => !equal(expected, actual))
  const exceptionOf = (one: Of) => exceptions.find(({ covers }) => covers(one))
  const failed = different.filter((one) => exceptionOf(one) === undefined)
  const counts = exceptions.map((exception) => ({
    reason: exception.reason,
    count: different.filter((one) => exceptionOf(one) === exception).length,
  }))
  const rows = counts.map(({ reason, count }) => `  ${count} excepted: ${reason}\n`)
  const passedCount = cases.length - different.length
  process.stdout.write(
    `SUITE ${title}: ${passedCount} passed, ${failed.length} failed\n${rows.join('')}`,
  )
  expect(cases.length, `${title} has cases`).toBeGreaterThan(0)
  expect(
    failed.slice(0, SHOWN_MAX),
    `${title}: ${failed.length} of ${cases.length} failed`,
  ).toEqual([])
  const needless = counts.filter(({ count }) => count === 0).map(({ reason }) => reason)
  expect(needless, `${title}: exceptions that no case needs`).toEqual([])
}

function equal(one: unknown, other: unknown): boolean {
  return Object.is(one, other) || JSON.stringify(one) === JSON.stringify(other)
}
