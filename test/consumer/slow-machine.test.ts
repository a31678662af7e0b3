/**
 * `npm test` where processors are slow: no test may judge time. It runs here, as a contributor types it.
 *
 * @module-tag long
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { required } from '@quorumscan/testkit'
import { it } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'

const repository = join(import.meta.dirname, '../..')
const BUSY_COUNT = 2

it('passes on one core', { tags: ['one-core'] }, async () => {
  await expectPasses(required('taskset'), ['-c', '0', 'npm', 'test'])
})

it('passes next to two busy processes', { tags: ['busy-machine'] }, async () => {
  const busy = Array.from({ length: BUSY_COUNT }, () =>
    spawn(process.execPath, ['--eval', 'for (;;);'], { stdio: 'ignore' }),
  )
  try {
    await expectPasses('npm', ['test'])
  } finally {
    for (const child of busy) child.kill('SIGKILL')
  }
})

async function expectPasses(program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, args, {
    cwd: repository,
    env: ofUser(process.env),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  expect(code, output).toBe(0)
}

/** Without what vitest, CI and the run of a long part have set. */
function ofUser(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isOurs = (name: string) =>
    /^(?:CI|NODE_ENV|NODE_OPTIONS|DEV|PROD|MODE|VITEST.*|TEST.*)$/.test(name)
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isOurs(name)))
}
