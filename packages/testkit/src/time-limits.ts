/**
 * How long tests and their waits may take. The limits are fixed, far above normal times, and multiplied only by
 * `TEST_SLOWNESS` (default 1). They do not depend on the load of the machine: the product is part of that load, so a
 * process that wastes a core would relax the very limits that should detect it.
 */

/** vitest.config.ts sets it: the deadline of `until` in this kind of tests, before it is multiplied. */
const WAIT_VARIABLE = 'TEST_WAIT_MS'
/** The limit of a test. test/support/time-limits.ts compares it with the limit that a test declares. */
const TEST_VARIABLE = 'TEST_LIMIT_MS'

export type TimeLimits = {
  /** Limit of one test, and of one hook. A test that needs more has a tag (below). */
  readonly testMs: number
  /** Limit of one `until`. It is below `testMs`, so that a failure names the condition that never held. */
  readonly waitMs: number
}

/** Tests that start no cluster. */
export const LIMITS: TimeLimits = { testMs: 60_000, waitMs: 45_000 }
export const CLUSTER_LIMITS: TimeLimits = { testMs: 300_000, waitMs: 120_000 }

/**
 * The factor of all limits.
 *
 * @throws {RangeError} If `TEST_SLOWNESS` is not a positive number.
 */
export function slowness(env = process.env): number {
  const text = env['TEST_SLOWNESS'] || '1'
  const factor = Number(text)
  if (factor > 0 && Number.isFinite(factor)) return factor
  throw new RangeError(`TEST_SLOWNESS is ${JSON.stringify(text)}: set a number above 0, such as 2`)
}

/** The tags of tests and files. All but the first have a longer limit than others of their kind; so have those of test/support/long-parts.ts. */
function tags(env = process.env) {
  const timeout = CLUSTER_LIMITS.testMs * slowness(env)
  return [
    { name: 'thorough', description: 'takes seconds of a processor: npm run check leaves it out' },
    { name: 'rest', description: 'runs in npm run test:rest, not in npm test' },
    { name: 'long', description: 'runs only in npm run test:long', timeout },
    {
      name: 'cluster',
      description: 'starts many processes, among tests that start none',
      timeout,
    },
    { name: 'many-cases', description: 'works through many cases', timeout },
  ]
}

/** The options of vitest for tests with these limits. */
export function vitestLimits({ testMs, waitMs }: TimeLimits) {
  const limitMs = testMs * slowness()
  return {
    testTimeout: limitMs,
    hookTimeout: limitMs,
    tags: tags(),
    expect: { poll: { timeout: waitMs * slowness(), interval: 20 } },
    env: { [WAIT_VARIABLE]: String(waitMs), [TEST_VARIABLE]: String(limitMs) },
  }
}

/** The deadline of a wait, in milliseconds. Outside of vitest it is the deadline of tests with a cluster. */
export function waitLimitMs(): number {
  return Number(process.env[WAIT_VARIABLE] || CLUSTER_LIMITS.waitMs) * slowness()
}
