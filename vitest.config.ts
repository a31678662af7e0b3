import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Sources, not dist: tests need no build (condition of our package.json files).
const conditions = ['@quorumscan/source', 'node', 'import', 'default']

/** The longest first, so that they do not run alone at the end. */
const LONGEST = ['e2e/sdk.test.ts', 'life-cycle.test.ts', 'console.test.ts']
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLongest = ({ moduleId }: TestSpecification) =>
      LONGEST.some((end) => moduleId.endsWith(end))
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))]
  }
}

const project = (name: string, include: string[], timeoutMs: number) => ({
  extends: true as const,
  test: { name, include, testTimeout: timeoutMs, hookTimeout: timeoutMs },
})

/**
 * They wait for processes, compilers and seconds of a ledger more than they compute: run together, as `npm test`
 * does, three files go side by side.
 */
const waiting = (...options: Parameters<typeof project>) => {
  const { test, ...rest } = project(...options)
  return { ...rest, test: { ...test, maxWorkers: 3, sequence: { groupOrder: 1 } } }
}

const shared = (...options: Parameters<typeof project>) => {
  const { test, ...rest } = project(...options)
  return { ...rest, test: { ...test, isolate: false } }
}

export default defineConfig({
  ssr: { resolve: { conditions } },
  resolve: { conditions },
  test: {
    // Two files at once: the machine of CI has two cores, and real Redis servers need some of them.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      // Files share what they import, which takes half of the time otherwise; those of the SDK cannot:
      // nock patches what Node has loaded.
      shared('unit', ['{packages,apps}/*/src/**/*.test.ts', 'cluster/src/**/*.test.ts'], 30_000),
      project('sdk', ['sdk/src/**/*.test.ts'], 30_000),
      project('tidy', ['test/tidy/**/*.test.ts'], 30_000),
      project('parity', ['test/parity/**/*.test.ts'], 60_000),
      project('vectors', ['test/vectors/**/*.test.ts'], 60_000),
      // Packs and installs the built SDK, and runs seven compilers.
      waiting('consumer', ['test/consumer/**/*.test.ts'], 300_000),
      project('sim', ['test/sim/**/*.test.ts'], 120_000),
      waiting('browser', ['test/browser/**/*.test.ts'], 120_000),
      waiting('conformance', ['test/conformance/**/*.test.ts'], 120_000),
      // Real processes, built: `npm test` builds before it runs these.
      waiting('e2e', ['test/e2e/**/*.test.ts'], 120_000),
      // Alone: they measure what an attack does to others.
      project('attacks', ['test/attacks/**/*.test.ts'], 180_000),
    ],
  },
})
