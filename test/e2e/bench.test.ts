/** That the benchmarks run at all; what they measure is for people to read. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { measureStreams } from '../bench/streams/measure.ts'

it('skips by name what needs an engine that is not here', async () => {
  const main = join(import.meta.dirname, '../dist/bench/main.js')
  const { CI: _, ...env } = process.env
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [main, 'machines', 'ordering', '--driver', 'cometbft'],
    { env: { ...env, QS_COMETBFT: '/nowhere/cometbft' } },
  )
  expect(stdout.trim().split('\n')).toEqual([
    expect.stringMatching(/^SKIPPED {2}everything with driver cometbft: .*\/nowhere\/cometbft/),
    '== machines',
    '== ordering',
  ])
})

it('streams a backlog to a user of a validator whose log is away', async () => {
  await measureStreams({ updateCount: 1_000, turns: 1, subscriberCount: 3, ms: 100 })
})
