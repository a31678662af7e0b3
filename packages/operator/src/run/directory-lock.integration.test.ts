/** Data directories that another process has locked. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createSystemClock } from '@quorumscan/base'
import { it as base } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { dataDirectory } from '../data-directory.ts'
import { acquireLock, findOwner } from './directory-lock.ts'

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

it('one of many processes locks a directory that was left by a crash', async ({ root }) => {
  const directory = dataDirectory(root)
  for (let round = 0; round < 20; round++) {
    const tries = await Promise.allSettled(
      Array.from({ length: 12 }, () => acquireLock(directory, clock)),
    )
    const locks = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(locks).toHaveLength(1)
    for (const one of tries)
      if (one.status === 'rejected')
        expect(String(one.reason)).toContain(`process ${process.pid} runs the processes of`)
    // What the owner leaves is what a crash leaves: a socket on which no process listens.
    for (const lock of locks) await lock[Symbol.asyncDispose]()
    expect(readdirSync(root)).toEqual([`run-${round + 1}.sock`])
  }
})

it('deletes what a crash between two steps left', async ({ root }) => {
  const program = `require('node:net').createServer().listen('run-0123456789abcdef.new', () => process.kill(process.pid, 'SIGKILL'))`
  await once(spawn(process.execPath, ['-e', program], { cwd: root }), 'exit')
  expect(readdirSync(root)).toEqual(['run-0123456789abcdef.new'])
  await using _lock = await acquireLock(dataDirectory(root), clock)
  expect(readdirSync(root)).toEqual(['run-1.sock'])
})

it.runIf(process.geteuid?.() === 0)(
  'a socket that another user made is not taken for an owner',
  async ({ root }) => {
    const directory = dataDirectory(root)
    await using _lock = await acquireLock(directory, clock)
    expect(await findOwner(directory, clock)).toBe(`process ${process.pid}`)
    chmodSync(root, 0o755)
    chmodSync(join(root, readdirSync(root)[0] ?? ''), 0o700)
    process.seteuid?.(65_534)
    const asked = findOwner(directory, clock) // It connects at once.
    process.seteuid?.(0)
    expect(await asked).toBeNull()
  },
)
