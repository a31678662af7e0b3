import { expect, it } from 'vitest'
import { type Clock, createSystemClock } from './clock.ts'
import { withTimeout } from './waiting.ts'

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
  expect(await withTimeout({ clock, timeoutMs: 10 }, work, () => null)).toBe(7)
  expect(given?.aborted).toBe(true)
})

it('returns the result of `onTimeout` after the time limit, or throws its error', async () => {
  const clock = createHeldClock()
  const resolving = withTimeout({ clock, timeoutMs: 10 }, never, () => null)
  const throwing = withTimeout({ clock, timeoutMs: 10 }, never, () => {
    throw new RangeError('too late')
  })
  throwing.catch(() => {}) // Asserted below.
  clock.advance()
  expect(await resolving).toBeNull()
  await expect(throwing).rejects.toThrow('too late')
})

it('rejects with the abort reason of the caller', async () => {
  const clock = createSystemClock()
  const caller = new AbortController()
  const run = withTimeout({ clock, timeoutMs: 60_000, signal: caller.signal }, never, () => null)
  caller.abort(new RangeError('not wanted any more'))
  await expect(run).rejects.toThrow('not wanted any more')
})
