import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { bundleProgram } from '@quorumscan/testkit/bundle-program'
import { expect, it } from 'vitest'

/** The output of a process that throws the value of this expression. */
async function reportOf(error: string, exitStatus: number): Promise<string> {
  const code = `
import { EnvError, runProcess } from '../../base/src/index.ts'
await runProcess(async () => { throw ${error} })`
  using program = await bundleProgram(code, import.meta.dirname)
  const child = spawn(process.execPath, [program.file])
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const report = await text(child.stderr)
  expect(await ended).toBe(exitStatus)
  return report
}

it.each([
  [
    'of the environment, by its sentence alone',
    "new EnvError('QS_A is not set')",
    /^QS_A is not set\n$/,
    2,
  ],
  ['of the program, with its trace', "new TypeError('no')", /^TypeError: no\n {4}at /, 1],
  [
    'that is a plain object, by what is in it',
    "{ code: 7, message: 'no' }",
    /^\{ code: 7, message: 'no' \}\n$/,
    1,
  ],
  ['that is a text, by that', "'no'", /^no\n$/, 1],
])('reports an error %s', async (_, error, expected, exitStatus) => {
  expect(await reportOf(error, exitStatus)).toMatch(expected)
})
