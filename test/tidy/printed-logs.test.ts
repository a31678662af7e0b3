/**
 * A failing test of a cluster prints the logs of all processes that it or its helpers started.
 *
 * @module-tag rest
 */
import { existsSync, rmSync } from 'node:fs'
import { expect, it } from 'vitest'
import { runFixture } from './fixture.ts'

it('a failed test or hook prints the logs of only its own clusters, including one that has ended', () => {
  const { status, output } = runFixture({ project: 'e2e', file: 'failing-cluster.test.ts' })
  expect(status, output).toBe(1)
  expect(output).toMatch(/Tests +4 failed \| 1 passed \| 1 skipped \(6\)/)
  const ofFailed = ['ended', 'runs', 'stayed broken', 'broke late', 'is not ready']
  for (const line of ofFailed.map((what) => `a line of one that ${what}`))
    expect(output).toContain(`-- sv-1.log\n${line}\n`)
  expect(output).not.toContain('a line of one that passed')
  const [, directory = ''] = /temporary files: (.*)/.exec(output) ?? []
  expect(directory).not.toBe('')
  expect(existsSync(directory)).toBe(false)
})

it('with KEEP=1 the data directories of a test that fails stay, and are named', () => {
  const file = { project: 'e2e', file: 'failing-cluster.test.ts' }
  const { output } = runFixture(file, { KEEP: '1' })
  const [, directory = ''] = /temporary files: (.*)/.exec(output) ?? []
  try {
    const kept = new Set([...output.matchAll(/^kept: (.*)$/gm)].map(([, path = '']) => path))
    expect(kept.size).toBe(5)
    for (const path of kept) expect(existsSync(path), path).toBe(true)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})
