import { defineConfig } from 'vitest/config'
import { isLong } from './packages/testkit/src/long.ts'
import {
  CLUSTER_LIMITS,
  LIMITS,
  slowness,
  vitestLimits,
} from './packages/testkit/src/time-limits.ts'
import { LongestFirst } from './test/support/durations.ts'
import { PARTS } from './test/support/long-parts.ts'

/** The code that packages were built to. */
const BUILT = ['node', 'import', 'default']
/** Their sources: tests need no build (condition of our package.json files). */
const SOURCES = ['@quorumscan/source', ...BUILT]

const SETUP = ['time-limits', 'matchers', 'requirements']

const project = (
  name: string,
  include: string[],
  { conditions = SOURCES, limits = LIMITS } = {},
) => ({
  extends: true as const,
  ssr: { resolve: { conditions } },
  resolve: { conditions },
  test: {
    ...{ name, include, setupFiles: SETUP.map((name) => `test/support/${name}.ts`) },
    ...vitestLimits(limits),
  },
})

/**
 * Tests of processes, which are built for them anyway: what was built is loaded by Node alone, and once for all files
 * that run one after the other. A file begins five seconds sooner.
 */
const ofProcesses = (name: string, include: string[], groupOrder: number, maxWorkers: number) => {
  const { test, ...rest } = project(name, include, {
    conditions: BUILT,
    limits: CLUSTER_LIMITS,
  })
  const server = { deps: { external: [/\/dist\//] } }
  const setupFiles = [...test.setupFiles, 'test/support/print-logs.ts']
  const how = { isolate: false, server, setupFiles }
  return { ...rest, test: { ...test, ...how, maxWorkers, sequence: { groupOrder } } }
}

/**
 * They wait for processes, compilers and seconds of a ledger more than they compute: run together, as `npm test`
 * does, four files go side by side, which two processors bear: with three they were busy for six tenths of the time.
 */
const waiting = (name: string, include: string[]) => ofProcesses(name, include, 1, 4)

/** They measure, so nothing else runs meanwhile. */
const alone = (name: string, include: string[]) => ofProcesses(name, include, 2, 1)

const shared = (...options: Parameters<typeof project>) => {
  const { test, ...rest } = project(...options)
  return { ...rest, test: { ...test, isolate: false } }
}

export default defineConfig({
  test: {
    // More files at once than the two cores of CI's machine: many of them wait for real Redis servers.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    tags: PARTS.map(({ name, shows }) => ({
      ...{ name, description: shows, timeout: CLUSTER_LIMITS.testMs * slowness() },
    })),
    tagsFilter: isLong ? [] : ['!long'],
    projects: [
      // Files share what they import, which takes half of the time otherwise; those of the SDK cannot:
      // nock patches what Node has loaded. test/tidy/test-kinds.test.ts checks which file is which.
      shared('unit', ['{packages/*,apps/*,cluster}/src/**/!(*.integration).test.ts']),
      // They start Redis or other processes.
      shared('integration', ['{packages/*,apps/*,cluster}/src/**/*.integration.test.ts']),
      project('sdk', ['sdk/src/**/*.test.ts']),
      project('tidy', ['test/tidy/**/*.test.ts']),
      project('parity', ['test/parity/**/*.test.ts']),
      project('vectors', ['test/vectors/**/*.test.ts']),
      // Packs and installs the built SDK, and runs seven compilers.
      waiting('consumer', ['test/consumer/**/*.test.ts']),
      project('sim', ['test/sim/**/*.test.ts']),
      waiting('browser', ['test/browser/**/*.test.ts']),
      waiting('conformance', ['test/conformance/**/*.test.ts']),
      // Real processes, built: `npm test` builds before it runs these.
      waiting('e2e', ['test/e2e/**/*.test.ts']),
      alone('attacks', ['test/attacks/**/*.test.ts']),
    ],
  },
})
