/** Pages whose event targets accept no signal of another realm, as those of jsdom. */
import { afterEach, expect, it, vi } from 'vitest'
import { onWake } from './page-events.ts'

type Listener = () => void

function createTarget() {
  const listeners = new Map<string, Set<Listener>>()
  return {
    count: () => [...listeners.values()].reduce((sum, each) => sum + each.size, 0),
    fire: (event: string) => {
      for (const listener of listeners.get(event) ?? []) listener()
    },
    addEventListener(event: string, listener: Listener, options?: object) {
      if (options !== undefined && 'signal' in options)
        throw new TypeError("'signal' is not of type 'AbortSignal'")
      listeners.set(event, (listeners.get(event) ?? new Set()).add(listener))
    },
    removeEventListener(event: string, listener: Listener) {
      listeners.get(event)?.delete(listener)
    },
  }
}

afterEach(() => vi.unstubAllGlobals())

it('listeners are removed when the signal aborts, also one of another realm', () => {
  const window = createTarget()
  const document = { ...createTarget(), visibilityState: 'visible' }
  vi.stubGlobal('addEventListener', window.addEventListener)
  vi.stubGlobal('removeEventListener', window.removeEventListener)
  vi.stubGlobal('document', document)
  const run = vi.fn()
  const leave = new AbortController()
  onWake(run, leave.signal)
  window.fire('focus')
  window.fire('online')
  document.fire('visibilitychange')
  expect(run).toHaveBeenCalledTimes(3)
  leave.abort()
  expect(window.count() + document.count()).toBe(0)
  onWake(run, leave.signal)
  expect(window.count() + document.count()).toBe(0)
})
