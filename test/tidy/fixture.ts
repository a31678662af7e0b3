/** Runs files of test/support/fixtures, which are part of no project, under the real configuration. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { root } from './tree.ts'

export const fixtures = join(root, 'test/support/fixtures')

export function run(args: readonly string[], slowness = '1') {
  const { PATH, HOME } = process.env
  const env = { PATH, HOME, NO_COLOR: '1', TEST_SLOWNESS: slowness }
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    ...{ cwd: root, env, encoding: 'utf8' },
  })
  return { status, stdout, output: stdout + stderr }
}

/** As a test of this project. */
export function runFixture(
  { project, file }: { readonly project: string; readonly file: string },
  slowness?: string,
) {
  return run([join(fixtures, 'run.mjs'), root, project, `test/support/fixtures/${file}`], slowness)
}
