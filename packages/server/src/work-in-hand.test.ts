import { ScanError } from '@quorumscan/errors'
import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createWorkInHand } from './work-in-hand.ts'

const TOO_LATE = new ScanError('OVERLOADED', 'too many reads are waiting')
const stranger = { isPeer: false }

function createWork() {
  const clock = createManualClock()
  const work = createWorkInHand(clock)
  return {
    clock,
    work,
    /** How many units are admitted, one by one, beside those in hand; all are given back. */
    room(): number {
      let count = 0
      for (;;) {
        try {
          work.admit(stranger)
        } catch {
          break
        }
        work.begin(1)
        count++
      }
      work.begin(-count)
      return count
    },
  }
}

it('half as much is taken in when one came too late, once for all that came with it', async () => {
  const { clock, work, room } = createWork()
  const before = room()
  work.begin(before)
  work.end(1, TOO_LATE)
  work.end(1, TOO_LATE)
  expect(room()).toBe(0)
  work.begin(2 - before) // Those in hand were two fewer by then.
  expect(room()).toBe(before / 2)
  await clock.advance(500)
  work.begin(1)
  work.end(1, TOO_LATE)
  expect(room()).toBe(256)
})

it('more is taken in again while that much is asked for, and is answered', () => {
  const { work, room } = createWork()
  const before = room()
  for (let round = 0; round < 10; round++) {
    const units = room()
    work.begin(units)
    for (let left = units; left > 0; left--) work.end(1)
  }
  expect(room()).toBeGreaterThan(before)
  expect(room()).toBeLessThanOrEqual(4096)
  const most = room()
  for (let round = 0; round < 1000; round++) {
    work.begin(1)
    work.end(1)
  }
  expect(room()).toBe(most)
})

it('what fails for another reason is no sign of too much', () => {
  const { work, room } = createWork()
  const before = room()
  work.begin(1)
  work.end(1, new ScanError('NOT_READY', 'starting'))
  expect(room()).toBe(before)
})

it('who stood in line for longer than anybody waits is refused, a peer a little later', () => {
  const { work } = createWork()
  for (const [client, waitedMsMax] of [
    [stranger, 1750],
    [{ isPeer: true }, 2000],
  ] as const) {
    work.admit(client, waitedMsMax)
    expect(() => work.admit(client, waitedMsMax + 1)).toThrow('more is asked for')
  }
})
