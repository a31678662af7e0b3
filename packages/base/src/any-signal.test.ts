import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { createSystemClock } from './clock.ts'
import { anySignal, waitFor } from './waiting.ts'

const SIGNALS = 50

it('a timeout without other references fires, also after garbage collection', async () => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  const stays = new AbortController()
  let endedCount = 0
  for (let count = 0; count < SIGNALS; count++)
    anySignal([stays.signal, AbortSignal.timeout(100)]).addEventListener('abort', () => {
      endedCount++
    })
  const haveEnded = () => {
    gc()
    return endedCount === SIGNALS || undefined
  }
  const bound = { clock: createSystemClock(), timeoutMs: 30_000, intervalMs: 10 }
  expect(await waitFor(haveEnded, { ...bound, what: 'all timeouts' })).toBe(true)
})

it('a signal that is already aborted aborts the result at once', () => {
  expect(anySignal([new AbortController().signal, AbortSignal.abort(7)]).reason).toBe(7)
})
