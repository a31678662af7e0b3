/** Calls that share the signal of their caller. */
import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { systemClock } from './clock.ts'
import { withDeadline } from './deadline.ts'

it('calls with one signal share a listener, and end with its reason', async () => {
  const abort = new AbortController()
  const { signal } = abort
  const bound = { clock: systemClock, timeoutMs: 60_000, signal, what: 'a call' }
  const calls = Array.from({ length: 12 }, () => withDeadline(bound, () => new Promise(() => {})))
  expect(await withDeadline(bound, async () => 'over')).toBe('over')
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  abort.abort(new Error('enough'))
  const ends = await Promise.allSettled(calls)
  expect(ends).toEqual(calls.map(() => ({ status: 'rejected', reason: new Error('enough') })))
})
