import { ScanError } from '@quorumscan/errors'
import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { ATTEMPTS_MAX, memberDelayMs } from './queue.ts'
import { createPostponed } from './sweep.ts'
import { isWorthRetrying, retryDelayMs } from './worker.ts'

const random = (fraction: number) => ({ bytes: () => new Uint8Array(), fraction: () => fraction })

it('retry delays double up to a maximum, and half of each is random', () => {
  const least = Array.from({ length: ATTEMPTS_MAX }, (_, i) => retryDelayMs(i + 1, random(0)))
  const most = Array.from({ length: ATTEMPTS_MAX }, (_, i) => retryDelayMs(i + 1, random(0.999)))
  expect(least).toEqual([125, 250, 500, 1000, 2000, 2500, 2500, 2500])
  for (const [index, wait] of most.entries())
    expect(wait, `attempt ${index + 1}`).toBeLessThanOrEqual(2 * (least[index] ?? 0))
})

it('for each contract one member has no delay, and all members different delays', () => {
  for (const contractId of ['00aabbcc', '00000000', '00ffffff', '00123457']) {
    const turns = [0, 1, 2, 3].map((index) => memberDelayMs(contractId, { index, count: 4 }))
    expect(new Set(turns).size, contractId).toBe(4)
    expect(Math.min(...turns), contractId).toBe(0)
  }
})

it('a postponement ends after its delay, and the oldest is dropped beyond the limit', async () => {
  const clock = createManualClock()
  const postponed = createPostponed(clock, 2)
  postponed.postpone('a', 1_000)
  postponed.postpone('b', 1_000)
  postponed.postpone('c', 1_000)
  expect(['a', 'b', 'c'].map((key) => postponed.isPostponed(key))).toEqual([false, true, true])
  await clock.advance(1_000)
  expect(['a', 'b', 'c'].map((key) => postponed.isPostponed(key))).toEqual([false, false, false])
})

it.each([
  [new ScanError('DEPENDENCY_UNAVAILABLE', 'x'), true],
  [new ScanError('SUBMISSION_UNKNOWN', 'x'), true],
  [new ScanError('CONTRACT_CONSUMED', 'x'), true],
  [new ScanError('CHOICE_REFUSED', 'x'), false],
  [new ScanError('PERMISSION_DENIED', 'x'), false],
  [new TypeError('x'), false],
])('%s is tried again: %s', (error, expected) => {
  expect(isWorthRetrying(error)).toBe(expected)
})
