/** Bounds of the history of heads, each where the others leave room. */
import { expect, it } from 'vitest'
import { createTimeline, type TimelineEntry } from './timeline.ts'

const historyHash = '00'.repeat(32)

/** The horizon after so many entries. */
function horizonAfter(
  count: number,
  of: (offset: number) => Pick<TimelineEntry, 'recordTime' | 'endedCount'>,
): number {
  const timeline = createTimeline()
  const entryAt = (offset: number) => ({ offset, historyHash, ...of(offset) })
  for (let offset = 0; offset < count; offset++) timeline.append(entryAt(offset))
  return timeline.horizonAt(entryAt(count - 1))
}

it('reads go back ten minutes of record time', () => {
  const second = 1_000_000
  const horizon = horizonAfter(1_000, (offset) => ({ recordTime: offset * second, endedCount: 0 }))
  expect(horizon).toBe(999 - 600)
})

it('reads go back 200 000 ended versions', () => {
  const horizon = horizonAfter(500, (offset) => ({
    recordTime: offset,
    endedCount: 1_000 * offset,
  }))
  expect(horizon).toBe(499 - 200)
})
