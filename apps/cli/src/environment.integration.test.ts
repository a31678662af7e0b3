/** The commit that `--version` prints is that of the software, and never that of a repository around it. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { it } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { readEnvironment } from './environment.ts'

const COMMIT = 'ab'.repeat(20)

function git(directory: string, ...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: directory, encoding: 'utf8' }).trim()
}

/** Of a command in `apps/cli` of this folder. */
function commitOf(directory: string, manifest: object): string {
  const place = join(directory, 'apps/cli')
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, 'package.json'), JSON.stringify({ version: '1.2.3', ...manifest }))
  return readEnvironment(pathToFileURL(`${directory}/`)).commit()
}

it('is that of the package of a release', ({ directory }) => {
  expect(commitOf(directory, { gitHead: COMMIT })).toBe(COMMIT)
})

it('is that of a clone', () => {
  const { commit } = readEnvironment()
  expect(commit().replace(/-dirty$/, '')).toBe(git(import.meta.dirname, 'rev-parse', 'HEAD'))
})

it('is unknown in files without git', ({ directory }) => {
  writeFileSync(join(directory, 'turbo.json'), '{}')
  expect(commitOf(directory, {})).toBe('unknown')
})

it('is unknown in a package that was installed in another repository', ({ directory }) => {
  git(directory, 'init', '--quiet')
  const author = ['-c', 'user.name=t', '-c', 'user.email=t@example.com']
  git(directory, ...author, 'commit', '--quiet', '--allow-empty', '--message', 'First')
  expect(commitOf(directory, {})).toBe('unknown')
})
