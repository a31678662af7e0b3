import { defineConfig } from 'vitest/config'

// Sources, not dist: tests need no build (condition of our package.json files).
const conditions = ['@quorumscan/source', 'node', 'import', 'default']

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
    projects: [
      project(
        'unit',
        ['{packages,apps}/*/src/**/*.test.ts', '{cluster,sdk}/src/**/*.test.ts'],
        30_000,
      ),
      project('tidy', ['test/tidy/**/*.test.ts'], 30_000),
      project('parity', ['test/parity/**/*.test.ts'], 60_000),
      project('vectors', ['test/vectors/**/*.test.ts'], 60_000),
      project('sim', ['test/sim/**/*.test.ts'], 120_000),
      // Real processes, built: `npm test` builds before it runs these. One cluster after the other.
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
