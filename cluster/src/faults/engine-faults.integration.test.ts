import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { identityOf, stateOf } from '@quorumscan/supervisor'
import { untilTrue } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createEngineFaults } from './engine-faults.ts'

const start = () => spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
const never = new AbortController().signal

it('lets no engine start while it is to be dead, and kills one that runs', async () => {
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

it('hangs an engine, and lets it go on', async () => {
  const faults = createEngineFaults(null)
  const engine = await faults.spawn(start, never)
  const identity = identityOf(engine.pid ?? 0)
  const state = () => (identity === null ? 'gone' : stateOf(identity))
  faults.set('paused')
  await untilTrue('it to hang', () => state() === 'stopped')
  faults.set(null)
  await untilTrue('it to go on', () => state() === 'running')
  faults.restart()
  expect(await once(engine, 'exit')).toEqual([null, 'SIGTERM'])
})

it('keeps nobody waiting who is told to stop', async () => {
  const faults = createEngineFaults('killed')
  const stopping = new AbortController()
  const waiting = faults.spawn(start, stopping.signal)
  stopping.abort(new Error('stopping'))
  await expect(waiting).rejects.toThrow()
})
