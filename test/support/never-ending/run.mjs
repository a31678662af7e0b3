// Runs never.test.ts as the project `unit` of the real configuration, in place of its own tests.
import { createVitest } from 'vitest/node'

const [root] = process.argv.slice(2)
const vitest = await createVitest('test', { root, watch: false, project: ['unit'] })
for (const project of vitest.projects)
  project.config.include = ['test/support/never-ending/never.test.ts']
await vitest.start()
await vitest.close()
