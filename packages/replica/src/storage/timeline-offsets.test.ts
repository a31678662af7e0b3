/**
 * The bound of the history of heads in offsets.
 *
 * @module-tag rest
 */
import { expect, it } from 'vitest'
import { createTimeline } from './timeline.ts'

it('reads go back a million offsets', () => {
  const timeline = createTimeline()
  const entryAt = (offset: number) => ({
    offset,
    recordTime: offset,
    endedCount: 0,
    historyHash: '00'.repeat(32),
  })
  const head = 1_000_009
  for (let offset = 0; offset <= head; offset++) timeline.append(entryAt(offset))
  expect(timeline.horizonAt(entryAt(head))).toBe(9)
})
