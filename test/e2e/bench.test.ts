/**
 * Benchmarks run without an error. These tests do not judge their results.
 *
 * @module-tag rest
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it('benchmarks skip, by name, the parts that need CometBFT if it is missing', async () => {
  const bootstrap = join(import.meta.dirname, '../../cluster/bootstrap.mjs')
  const { CI: _, ...env } = process.env
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [bootstrap, 'bench', 'machines', 'ordering', '--driver', 'cometbft'],
    { env: { ...env, QS_COMETBFT: '/nowhere/cometbft' } },
  )
  expect(stdout.trim().split('\n')).toEqual([
    expect.stringMatching(/^SKIPPED {2}everything with driver cometbft: .*\/nowhere\/cometbft/),
    '== machines',
    expect.stringMatching(/^machines took [0-9.]+ s$/),
    '== ordering',
    expect.stringMatching(/^ordering took [0-9.]+ s$/),
  ])
})
