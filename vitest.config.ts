import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Sources, not dist: tests need no build (condition of our package.json files).
const conditions = ['@quorumscan/source', 'node', 'import', 'default']

/** The longest first, so that they do not run alone at the end. It mostly waits for seconds of a ledger to pass. */
const LONGEST = 'life-cycle.test.ts'
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLongest = ({ moduleId }: TestSpecification) => moduleId.endsWith(LONGEST)
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))]
  }
}

const project = (name: string, include: string[], timeoutMs: number) => ({
  extends: true as const,
  test: { name, include, testTimeout: timeoutMs, hookTimeout: timeoutMs },
})

export default defineConfig({
  ssr: { resolve: { conditions } },
  resolve: { conditions },
  test: {
    // Two files at once: the machine of CI has two cores, and real Redis servers need some of them.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      project(
        'unit',
        ['{packages,apps}/*/src/**/*.test.ts', '{cluster,sdk}/src/**/*.test.ts'],
        30_000,
      ),
      project('tidy', ['test/tidy/**/*.test.ts'], 30_000),
      project('parity', ['test/parity/**/*.test.ts'], 60_000),
      project('vectors', ['test/vectors/**/*.test.ts'], 60_000),
      // Packs and installs the built SDK, and runs seven compilers.
      project('consumer', ['test/consumer/**/*.test.ts'], 300_000),
      project('sim', ['test/sim/**/*.test.ts'], 120_000),
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'conformance',
          include: ['test/conformance/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      // Real processes, built: `npm test` builds before it runs these.
      project('e2e', ['test/e2e/**/*.test.ts'], 120_000),
    ],
  },
})
