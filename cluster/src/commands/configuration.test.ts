import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { REPOSITORY_ROOT } from '../rig/built-files.ts'
import { configurationPage } from './configuration.ts'

const page = configurationPage()

it('the committed page on variables and flags is that of the code; `npm run generate` writes it', () => {
  expect(readFileSync(join(REPOSITORY_ROOT, 'docs/configuration.md'), 'utf8')).toBe(page)
})

/** The files that write the environment of a cluster's processes. */
const planners = ['cluster/src/rig/topology.ts', 'packages/operator/src/plan.ts']
const told = new Set(
  planners.flatMap((file) =>
    [...readFileSync(join(REPOSITORY_ROOT, file), 'utf8').matchAll(/\bQS_[A-Z_]+/g)].map(
      ([name]) => name,
    ),
  ),
)

it('has each variable that a process of a cluster is told, but those of its faults', () => {
  expect(told.size).toBeGreaterThan(25)
  const missing = [...told]
    .filter((name) => !name.startsWith('QS_FAULT'))
    .filter((name) => !page.includes(`\`${name}\``))
  expect(missing).toEqual([])
})

it('has no variable that a process needs and a cluster does not tell it', () => {
  const rows = page.matchAll(/^\| `(QS_\w+)` \|.*\*\*needed\*\*.* \| ([a-z, ]+) \|$/gm)
  const needed = [...rows].filter(([, , readers]) => readers !== 'run').map(([, name = '']) => name)
  expect(needed.length).toBeGreaterThan(10)
  expect(needed.filter((name) => !told.has(name))).toEqual([])
})

it('says of each what it means and how it looks', () => {
  const rows = page.split('\n').filter((line) => line.startsWith('| `'))
  expect(rows.length).toBeGreaterThan(100)
  for (const row of rows) {
    const [, name, about, , example] = row.split(/(?<!\\)\|/).map((cell) => cell.trim())
    expect(about, name).not.toBe('')
    if (name?.startsWith('`QS_')) expect(example, name).toMatch(/^`[^`]+`$/)
  }
})
