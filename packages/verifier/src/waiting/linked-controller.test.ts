import { getEventListeners } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { callsAt } from '../testing/calls-at.ts'
import { linkedController, onAbort } from './linked-controller.ts'

const SIGNALS = 50

it('a timeout without other references fires, also after garbage collection', async () => {
  setFlagsFromString('--expose-gc')
  const collecting = setInterval(runInNewContext('gc') as () => void, 10)
  const stays = new AbortController()
  const { signal } = stays
  const ended = (resolve: () => void) =>
    linkedController(signal, AbortSignal.timeout(100)).signal.addEventListener('abort', resolve)
  await Promise.all(Array.from({ length: SIGNALS }, () => new Promise<void>(ended)))
  clearInterval(collecting)
  expect(callsAt(signal)).toBe(0)
})

it('aborts with the reason of the signal that aborts first, at once if one has', () => {
  const [one, other] = [new AbortController(), new AbortController()]
  const linked = linkedController(one.signal, undefined, other.signal)
  expect(linked.signal.aborted).toBe(false)
  other.abort(7)
  one.abort(8)
  expect(linked.signal.reason).toBe(7)
  expect(linkedController(new AbortController().signal, AbortSignal.abort(9)).signal.reason).toBe(9)
})

it('lets go of its signals when it is aborted, and when one of them is', () => {
  const [stays, other] = [new AbortController(), new AbortController()]
  const linked = Array.from({ length: 100 }, () => linkedController(stays.signal, other.signal))
  expect([callsAt(stays.signal), callsAt(other.signal)]).toEqual([100, 100])
  // Node.js warns of a leak at the eleventh.
  expect(getEventListeners(stays.signal, 'abort')).toHaveLength(1)
  for (const one of linked.slice(1)) one.abort()
  expect([callsAt(stays.signal), callsAt(other.signal)]).toEqual([1, 1])
  other.abort()
  expect([callsAt(stays.signal), callsAt(other.signal)]).toEqual([0, 0])
  expect(linked.every(({ signal }) => signal.aborted)).toBe(true)
  linkedController(AbortSignal.abort(), stays.signal)
  linkedController(stays.signal, AbortSignal.abort())
  expect(callsAt(stays.signal)).toBe(0)
})

it('calls each call that was not forgotten, although one forgets another meanwhile', () => {
  const source = new AbortController()
  const called: string[] = []
  const forgetFirst = onAbort(source.signal, () => called.push('first'))
  const forgetSecond = onAbort(source.signal, () => {
    called.push('second')
    forgetThird()
  })
  const forgetThird = onAbort(source.signal, () => called.push('third'))
  forgetFirst()
  forgetFirst()
  source.abort()
  forgetSecond()
  expect(called).toEqual(['second'])
  expect(callsAt(source.signal)).toBe(0)
})
