/** Runs files of test/support/fixtures, which belong to no project, with the real configuration. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { root } from '../support/tree.ts'

export const fixtures = join(root, 'test/support/fixtures')

type Environment = Readonly<Record<string, string>>

export function run(args: readonly string[], variables: Environment = {}) {
  const { PATH, HOME } = process.env
  const env = { PATH, HOME, NO_COLOR: '1', TEST_SLOWNESS: '1', ...variables }
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    env,
    encoding: 'utf8',
  })
  return { status, stdout, output: stdout + stderr }
}

type Fixture = {
  readonly project: string
  readonly file: string
  /** Reporter of vitest. Default: `default`, which omits the titles of skipped tests. */
  readonly reporter?: string
}

/** Runs a fixture as a test of a project. */
export function runFixture(
  { project, file, reporter = 'default' }: Fixture,
  variables: Environment = {},
) {
  const path = `test/support/fixtures/${file}`
  return run([join(fixtures, 'run.mjs'), root, project, path, reporter], variables)
}
