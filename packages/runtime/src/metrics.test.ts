import { expect, it } from 'vitest'
import { createMetrics } from './metrics.ts'

it('does not compile with a metric that is half done', () => {
  const metrics = createMetrics()
  const about = { help: '.', labels: ['node', 'outcome'] } as const
  const count = metrics.counted({ ...about, name: 'some_total' })
  // @ts-expect-error A label without a value.
  count('sv-1')
  // @ts-expect-error A value without a label.
  count('sv-1', 'done', 'late')
  // @ts-expect-error A known set that lacks a value.
  metrics.durations({ ...about, name: 'some_seconds', known: [['sv-1']] })
  // @ts-expect-error No label, and a value.
  metrics.sampled('gauge', { name: 'some', help: '.', read: () => [[['sv-1'], 1]] })
  // @ts-expect-error A metric that says nothing of itself.
  const mute = () => metrics.counted({ name: 'other_total' })
  expect(mute).toThrow('help')
})
