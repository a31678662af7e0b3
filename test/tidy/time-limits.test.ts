/**
 * Every test ends: one that never resolves fails with its title after a time that depends only on `TEST_SLOWNESS`.
 *
 * @module-tag rest
 */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isTest, matchingLines, root, sources } from '../support/tree.ts'
import { fixtures, run, runFixture } from './fixture.ts'

function limitsAt(slowness: string): unknown {
  const { stdout, output } = run([join(fixtures, 'print-limits.mjs'), root], {
    TEST_SLOWNESS: slowness,
  })
  expect(stdout, output).not.toBe('')
  return JSON.parse(stdout)
}

describe('time limits', () => {
  const alone = { test: 60_000, hook: 60_000, poll: 45_000 }
  const withCluster = { test: 300_000, hook: 300_000, poll: 120_000 }
  const kinds = {
    unit: alone,
    integration: alone,
    sdk: alone,
    tidy: alone,
    parity: alone,
    vectors: alone,
    sim: alone,
    consumer: withCluster,
    browser: withCluster,
    conformance: withCluster,
    e2e: withCluster,
    attacks: withCluster,
    suites: withCluster,
  }

  it('are 60 s for a test without a cluster, 300 s with one, and longer than any wait', () => {
    expect(limitsAt('1')).toEqual(kinds)
  })

  it('end a test that never resolves, and name the test or its condition', () => {
    // A fiftieth of 60 s and of 45 s.
    const { status, output } = runFixture(
      { project: 'unit', file: 'never.test.ts' },
      { TEST_SLOWNESS: '0.02' },
    )
    expect(status, output).toBe(1)
    for (const [title, message] of [
      ['a test whose promise never resolves', 'Test timed out in 1200ms'],
      ['a test whose hook never resolves', 'Hook timed out in 1200ms'],
      ['a wait whose condition never holds', 'timed out after 900 ms waiting for the moon'],
      ['a poll whose condition never holds', "expected 'the sun' to be 'the moon'"],
      ['a test that declares a shorter limit', 'the limit of this test is 1 ms, but'],
    ] as const)
      expect(output).toMatch(new RegExp(`FAIL .* > ${title}\n.*${message}`))
    expect(output).toMatch(/Tests +5 failed \| 1 passed \(6\)/)
  })

  it('are only in the configuration: no hook sets one, and no test reads the load', () => {
    const tests = sources.filter((file) => isTest(file) && !file.startsWith('test/tidy/'))
    expect(matchingLines(tests, /^ *\}, [A-Z0-9_]+\)$|\bvi\.wait(For|Until)\(/)).toEqual([])
    expect(matchingLines(tests, /\bloadavg\b/)).toEqual([])
  })
})
