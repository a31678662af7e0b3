// Prints the limits of time of each project of the real configuration, in milliseconds, as JSON.
import { createVitest } from 'vitest/node'

const vitest = await createVitest('test', { root: process.argv[2], watch: false })
const limits = vitest.projects.map(({ name, config }) => [
  name,
  { test: config.testTimeout, hook: config.hookTimeout, poll: config.expect.poll.timeout },
])
await vitest.close()
process.stdout.write(JSON.stringify(Object.fromEntries(limits)))
