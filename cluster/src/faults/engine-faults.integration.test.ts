import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { identityOf, stateOf } from '@quorumscan/supervisor'
import { untilTrue } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createEngineFaults } from './engine-faults.ts'

const start = () => spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
const never = new AbortController().signal

it('kills a running engine, and starts none until the fault ends', async () => {
  const faults = createEngineFaults(null)
  const first = await faults.spawn(start, never)
  faults.set('killed')
  expect(await once(first, 'exit')).toEqual([null, 'SIGKILL'])

  let isStarted = false
  const second = faults.spawn(start, never).finally(() => {
    isStarted = true
  })
  faults.set('killed')
  await new Promise(setImmediate)
  expect(isStarted).toBe(false)
  faults.set(null)
  const engine = await second
  engine.kill('SIGKILL')
  await once(engine, 'exit')
})

it('pauses an engine, and resumes it', async () => {
  const faults = createEngineFaults(null)
  const engine = await faults.spawn(start, never)
  const identity = identityOf(engine.pid ?? 0)
  const state = () => (identity === null ? 'gone' : stateOf(identity))
  faults.set('paused')
  await untilTrue('it to hang', () => state() === 'stopped')
  faults.set(null)
  await untilTrue('it to continue', () => state() === 'running')
  faults.restart()
  expect(await once(engine, 'exit')).toEqual([null, 'SIGTERM'])
})

it('a stop does not wait for the end of the fault', async () => {
  const faults = createEngineFaults('killed')
  const stopping = new AbortController()
  const waiting = faults.spawn(start, stopping.signal)
  stopping.abort(new Error('stopping'))
  await expect(waiting).rejects.toThrow()
})
