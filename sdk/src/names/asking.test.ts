/**
 * When a read is tried again, on a clock that each pause moves.
 *
 * @module-tag rest
 */
import { expect, it } from 'vitest'
import type { Clock } from '../platform/clock.ts'
import { retryLookups } from './asking.ts'
import type { ReadOutcome } from './bounded.ts'

/** Reads until the outcome is final. @returns The kind of the outcome, and the pauses between requests, in ms. */
async function read(...kinds: readonly ReadOutcome['kind'][]) {
  const pausesMs: number[] = []
  let ms = 0
  const clock: Clock = {
    nowMicros: () => ms * 1000,
    monotonicMs: () => ms,
    async delay(pauseMs) {
      ms += pauseMs
      pausesMs.push(pauseMs)
    },
  }
  let count = 0
  const ask = async () => {
    const kind = kinds[Math.min(count++, kinds.length - 1)]
    const retryAfterMs = kind === 'lagging' ? 300 : null
    return [{ kind, ...(kind !== 'verified' && { retryAfterMs }) }] as ReadOutcome[] // What retries look at.
  }
  const { signal } = new AbortController()
  const [outcome] = await retryLookups(ask, { clock, read: { signal, endsAtMs: 10_000 } })
  return [outcome?.kind, pausesMs]
}

it.each([
  ['an answer', ['verified'], 'verified', []],
  // More requests cannot end it, and the user must learn of it at once.
  ['a dispute', ['disputed'], 'disputed', []],
  ['a dispute after unreachable nodes', ['insufficient', 'disputed'], 'disputed', [250]],
  ['nodes that lag twice', ['lagging', 'lagging', 'verified'], 'verified', [300, 300]],
  ['nodes that lag on', ['lagging'], 'lagging', [300, 300]],
  ['unreachable nodes', ['insufficient'], 'insufficient', [250, 500, 1000, 2000]],
] as const)('%s', async (_, kinds, kind, pausesMs) => {
  expect(await read(...kinds)).toEqual([kind, pausesMs])
})
