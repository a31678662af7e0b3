import { defineConfig } from 'vitest/config'

// Sources, not dist: tests need no build (condition of our package.json files).
const conditions = ['@quorumscan/source', 'node', 'import', 'default']

export default defineConfig({
  ssr: { resolve: { conditions } },
  resolve: { conditions },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{packages,apps}/*/src/**/*.test.ts', '{cluster,sdk}/src/**/*.test.ts'],
        },
      },
    ],
  },
})
