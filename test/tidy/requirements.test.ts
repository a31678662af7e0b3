/**
 * If a program that a fixture starts is missing, its tests are skipped and listed. In CI they fail.
 *
 * @module-tag rest
 */
import { expect, it } from 'vitest'
import { runFixture } from './fixture.ts'

const FILE = { project: 'integration', file: 'requirements.test.ts', reporter: 'verbose' }
const MISSING = { PATH: '/nowhere', REDIS_SERVER: '', XDG_CACHE_HOME: '/nowhere' }
const TITLES = [
  'a test that starts Redis',
  'a suite that starts Redis > its first test',
  'a suite that starts Redis > its second test',
  'a suite that starts Redis once for its file > its first test',
  'a suite that starts Redis once for its file > its second test',
  'a suite that makes certificates before each test > a test that needs openssl',
]

it('tests whose fixture needs a missing program are skipped, and one line names the program', () => {
  const { status, output } = runFixture(FILE, MISSING)
  expect(status, output).toBe(0)
  for (const title of TITLES) expect(output).toMatch(new RegExp(`↓ .* > ${title}\\b`))
  expect(output).toMatch(/Tests +1 passed \| 6 skipped \(7\)/)
  const reasons = output.split('\n').filter((line) => line.startsWith('SKIPPED '))
  expect(reasons.map((line) => /for which (\S+) is missing/.exec(line)?.[1])).toEqual([
    'redis-server',
    'openssl',
  ])
})

it('a program counts as missing if its variable names a file that does not exist', () => {
  const { status, output } = runFixture(FILE, { REDIS_SERVER: '/nowhere/redis-server' })
  expect(output).toContain('REDIS_SERVER is /nowhere/redis-server, which cannot be executed')
  for (const title of TITLES.slice(0, -1)) expect(output).toMatch(new RegExp(`↓ .* > ${title}\\b`))
  // openssl exists, so its test runs, and fails as intended.
  expect(status, output).toBe(1)
})

it('tests whose fixture needs a missing program fail if CI is set', () => {
  const { status, output } = runFixture(FILE, { ...MISSING, CI: 'true' })
  expect(status, output).toBe(1)
  for (const name of ['redis-server', 'openssl'])
    expect(output).toContain(`Error: CI is set, and ${name} is missing (not on the PATH): install`)
  expect(output).not.toMatch(/^SKIPPED/m)
  expect(output).toMatch(/Tests +4 failed \| 1 passed \| 2 skipped \(7\)/)
})
