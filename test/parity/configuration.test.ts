import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { RUN_VARIABLES } from '@quorumscan/config'
import { BACKUP_VARIABLES, OPTIONAL_VARIABLES, OWN_VARIABLES } from '@quorumscan/operator/run'
import { expect, it } from 'vitest'
import { configurationPage } from './configuration-page.ts'

const page = configurationPage()

it('docs/configuration.md equals the generated page (`npm run generate`)', async () => {
  await expect(page).toMatchFileSnapshot('../../docs/configuration.md')
})

it('config has the names of the variables that `run` reads itself', () => {
  const specs = { ...OWN_VARIABLES, ...OPTIONAL_VARIABLES, ...BACKUP_VARIABLES }
  expect([...RUN_VARIABLES].sort()).toEqual(Object.keys(specs).sort())
})

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** The files that write the environment of a cluster's processes. */
const planners = ['cluster/src/rig/topology.ts', 'packages/operator/src/plan.ts']
const written = new Set(
  planners.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/\bQS_[A-Z_]+/g)].map(([name]) => name),
  ),
)

it('the page has each variable that a cluster sets for a process, except those of faults', () => {
  expect(written.size).toBeGreaterThan(25)
  const missing = [...written]
    .filter((name) => !name.startsWith('QS_FAULT'))
    .filter((name) => !page.includes(`\`${name}\``))
  expect(missing).toEqual([])
})

it('a cluster sets each variable that the page lists as needed', () => {
  const rows = page.matchAll(/^\| `(QS_\w+)` \|.*\*\*needed\*\*.* \| ([a-z, ]+) \|$/gm)
  const needed = [...rows].filter(([, , readers]) => readers !== 'run').map(([, name = '']) => name)
  expect(needed.length).toBeGreaterThan(10)
  expect(needed.filter((name) => !written.has(name))).toEqual([])
})

it('the page has a description and an example for each variable', () => {
  const rows = page.split('\n').filter((line) => line.startsWith('| `'))
  expect(rows.length).toBeGreaterThan(100)
  for (const row of rows) {
    const [, name, about, , example] = row.split(/(?<!\\)\|/).map((cell) => cell.trim())
    expect(about, name).not.toBe('')
    if (name?.startsWith('`QS_')) expect(example, name).toMatch(/^`[^`]+`$/)
  }
})
