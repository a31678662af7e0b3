import { expect, it } from 'vitest'
import { type Clock, createSystemClock } from './clock.ts'
import { within } from './waiting.ts'

/** A clock whose delays end when the test calls `advance`. */
function createHeldClock(): Clock & { advance(): void } {
  let advance = () => {}
  const held = new Promise<void>((resolve) => {
    advance = resolve
  })
  return { ...createSystemClock(), delay: () => held, advance: () => advance() }
}

const never = () => new Promise<never>(() => {})

it('returns the result of work that completes in time, and aborts its signal', async () => {
  const clock = createHeldClock()
  let given: AbortSignal | undefined
  const work = async (signal: AbortSignal) => {
    given = signal
    return 7
  }
  expect(await within({ clock, timeoutMs: 10 }, work, () => null)).toBe(7)
  expect(given?.aborted).toBe(true)
})

it('returns the result of `late` after the time limit, or throws its error', async () => {
  const clock = createHeldClock()
  const quiet = within({ clock, timeoutMs: 10 }, never, () => null)
  const loud = within({ clock, timeoutMs: 10 }, never, () => {
    throw new RangeError('too late')
  })
  loud.catch(() => {}) // Asserted below.
  clock.advance()
  expect(await quiet).toBeNull()
  await expect(loud).rejects.toThrow('too late')
})

it('rejects with the abort reason of the caller', async () => {
  const clock = createSystemClock()
  const caller = new AbortController()
  const outcome = within({ clock, timeoutMs: 60_000, signal: caller.signal }, never, () => null)
  caller.abort(new RangeError('not wanted any more'))
  await expect(outcome).rejects.toThrow('not wanted any more')
})
