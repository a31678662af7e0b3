import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import {
  CLUSTER_LIMITS,
  LIMITS,
  slowness,
  vitestLimits,
} from './packages/testkit/src/time-limits.ts'
import { mutantPlugins } from './test/mutants/mutant.ts'
import { LongestFirst } from './test/support/durations.ts'
import { PARTS } from './test/support/long-parts.ts'
import { tagsFilterOf, testSet } from './test/support/test-set.ts'

/** Tests import sources, also of the SDK, whose package.json leads to its build otherwise. */
const conditions = ['@quorumscan/source', 'node', 'import', 'default']

/** More files at once than cores, since most wait for Redis servers or other processes; at most as on the two cores of CI. */
const WORKERS = Math.min(availableParallelism() + 1, 3)
/** With more clusters on two cores, all processes poll and wait for each other most of the time. */
const CLUSTERS = Math.min(availableParallelism(), 2)

const SETUP = ['time-limits', 'matchers', 'requirements']

const project = (name: string, include: string[], limits = LIMITS) => ({
  extends: true as const,
  ssr: { resolve: { conditions } },
  resolve: { conditions },
  test: {
    name,
    include,
    setupFiles: SETUP.map((name) => `test/support/${name}.ts`),
    ...vitestLimits(limits),
  },
})

/** Tests of processes. Files that run one after the other share what they import. */
const ofProcesses = (name: string, include: string[]) => {
  const { test, ...rest } = project(name, include, CLUSTER_LIMITS)
  const setupFiles = [...test.setupFiles, 'test/support/print-logs.ts']
  const how = { isolate: false, maxWorkers: CLUSTERS, setupFiles }
  const sequence = { groupOrder: 1 } // vitest needs another group for another number of workers
  return { ...rest, test: { ...test, ...how, sequence } }
}

/** Files share what they import, which takes half of the time otherwise. */
const shared = (...options: Parameters<typeof project>) => {
  const { test, ...rest } = project(...options)
  return { ...rest, test: { ...test, isolate: false } }
}

export default defineConfig({
  plugins: mutantPlugins(),
  test: {
    maxWorkers: WORKERS,
    runner: './test/support/runner.ts',
    // What is compiled once is read from `node_modules` by the other projects, and by the next run.
    experimental: { fsModuleCache: true },
    sequence: { sequencer: LongestFirst },
    tags: PARTS.map(({ name, shows, minutes }) => ({
      name,
      description: shows,
      timeout: (minutes === undefined ? CLUSTER_LIMITS.testMs : minutes * 60_000) * slowness(),
      // Its limit, in place of that of the tag `long`.
      ...(minutes === undefined ? {} : { priority: 1 }),
    })),
    tagsFilter: tagsFilterOf(testSet()),
    projects: [
      // test/tidy/test-kinds.test.ts checks which file is which.
      shared('unit', ['{packages/*,apps/*,cluster}/src/**/!(*.integration).test.ts']),
      // They start Redis or other processes.
      shared('integration', ['{packages/*,apps/*,cluster}/src/**/*.integration.test.ts']),
      shared('sdk', ['sdk/src/**/*.test.ts']),
      shared('tidy', ['test/{tidy,bench,mutants,shots,sizes}/**/*.test.ts']),
      shared('parity', ['test/{parity,upstream}/**/*.test.ts']),
      shared('vectors', ['test/vectors/**/*.test.ts']),
      // Packs and installs the built SDK, and runs seven compilers.
      ofProcesses('consumer', ['test/consumer/**/*.test.ts']),
      shared('sim', ['test/{sim,payments}/**/*.test.ts']),
      ofProcesses('browser', ['test/browser/**/*.test.ts']),
      ofProcesses('conformance', ['test/conformance/**/*.test.ts']),
      // Real processes, built: `npm test` builds before it runs these.
      ofProcesses('e2e', ['test/e2e/**/*.test.ts']),
      // What others wrote, against our code and our processes.
      ofProcesses('suites', ['test/suites/**/*.test.ts']),
      // Those that judge times are long parts, which run alone.
      ofProcesses('attacks', ['test/attacks/**/*.test.ts']),
    ],
  },
})
