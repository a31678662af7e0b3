/** Data directories that another process has locked. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createSystemClock } from '@quorumscan/base'
import { it as base } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { dataDirectory } from '../data-directory.ts'
import { acquireLock } from './directory-lock.ts'

const clock = createSystemClock()
const it = base.extend('root', ({ directory }) => directory)

it('a directory can be locked once, and again after its release', async ({ root }) => {
  const directory = dataDirectory(root)
  {
    await using _lock = await acquireLock(directory, clock)
    await expect(acquireLock(directory, clock)).rejects.toThrow(
      `process ${process.pid} runs the processes of ${root}`,
    )
  }
  await using _second = await acquireLock(directory, clock)
})

it('a directory is released by a process that was killed, not by one that hangs', async ({
  root,
}) => {
  const directory = dataDirectory(root)
  const program = `require('node:net').createServer().listen('run.sock', () => console.log('listens'))`
  const other = spawn(process.execPath, ['-e', program], { cwd: root })
  await once(other.stdout, 'data')
  other.kill('SIGSTOP')
  await expect(acquireLock(directory, clock)).rejects.toThrow(
    'another process runs the processes of',
  )
  other.kill('SIGKILL')
  await once(other, 'exit')
  await using _lock = await acquireLock(directory, clock)
})
