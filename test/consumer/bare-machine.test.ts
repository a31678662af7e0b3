/**
 * The commands of the README on a bare Debian, without a terminal, without CI and without lists of packages: nothing but
 * Node, npm and git is installed. The clone is at the last commit of this one. Each command is typed by an ordinary user
 * and by root.
 *
 * @module-tag long
 */
import { join } from 'node:path'
import { it as base } from '@quorumscan/testkit/fixtures'
import { describe, expect } from 'vitest'
import { type BareSystemOptions, createBareSystem } from '../support/bare-system.ts'

const repository = join(import.meta.dirname, '../..')
const SYSTEMS = {
  'Debian 13 with its own Node': {
    release: 'trixie',
    packages: ['ca-certificates', 'git', 'nodejs', 'npm'],
    hasOurNode: false,
  },
  'Debian 12 with our Node': {
    release: 'bookworm',
    packages: ['ca-certificates', 'git'],
    hasOurNode: true,
  },
} as const satisfies Readonly<Record<string, BareSystemOptions>>
type System = keyof typeof SYSTEMS

/** Of README.md and docs/start.md. `heal` waits until sv-1 is up. */
const COMMANDS = `
set -ex
cd ~/quorumscan
npm start -- --detach
npx --no -- quorumscan kill sv-1
npx --no -- quorumscan resolve alice.unverified.ns
npx --no -- quorumscan status
npx --no -- quorumscan heal --all
npx --no -- quorumscan demo
npx --no -- quorumscan down
`
const OUTPUTS = [
  'Fetching Redis into ',
  'quorumscan is up.',
  'sv-1 is killed',
  'alice.unverified.ns: verified',
  'failures tolerated: 1 (3 of 4 nodes up, 2 must agree)',
  'is registered, and its lookup is verified.',
]

const it = base
  .extend('startAndUse', ({ resources }) => async (system: System) => {
    const machine = resources.opened(await createBareSystem(SYSTEMS[system]))
    const before = machine.files()
    for (const user of ['user', 'root'] as const) {
      machine.clone(user, repository)
      const { code, output } = await machine.run(user, COMMANDS)
      expect(code, output).toBe(0)
      for (const text of OUTPUTS) expect(output).toContain(text)
    }
    expect(machine.files()).toEqual(before)
  })
  .extend('test', ({ resources }) => async (system: System, user: 'root' | 'user') => {
    const machine = resources.opened(await createBareSystem(SYSTEMS[system]))
    machine.clone(user, repository)
    const { code, output } = await machine.run(user, 'cd ~/quorumscan && npm test')
    expect(code, output).toBe(0)
  })

describe('npm start, the commands of the README and down, as an ordinary user and as root', () => {
  it(
    'work on Debian 13, and change nothing but the home',
    {
      tags: ['bare-machine'],
    },
    ({ startAndUse }) => startAndUse('Debian 13 with its own Node'),
  )

  it(
    'work on Debian 12, and change nothing but the home',
    {
      tags: ['bare-machine-12'],
    },
    ({ startAndUse }) => startAndUse('Debian 12 with our Node'),
  )
})

describe('npm test', () => {
  it('passes on Debian 13 as an ordinary user', { tags: ['bare-machine-test'] }, ({ test }) =>
    test('Debian 13 with its own Node', 'user'),
  )

  it('passes on Debian 12 as root', { tags: ['bare-machine-test-12'] }, ({ test }) =>
    test('Debian 12 with our Node', 'root'),
  )
})
