import { expect, it } from 'vitest'
import { createMetrics } from './metrics.ts'

it('does not compile with an incomplete metric', () => {
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
  // @ts-expect-error A metric without a help text.
  const mute = () => metrics.counted({ name: 'other_total' })
  expect(mute).toThrow('help')
})

it('durations of known labels start at zero, others with their first value', async () => {
  const metrics = createMetrics()
  const about = { name: 'work_seconds', help: 'Of work.', labels: ['kind'] as const }
  const observerOf = metrics.durations({ ...about, known: [['good']] })
  const counts = async () => {
    const { text } = await metrics.expose()
    const lines = text.matchAll(/^quorumscan_work_seconds_count\{kind="(\w+)"\} (\d+)$/gm)
    return Object.fromEntries([...lines].map(([, kind, count]) => [kind, Number(count)]))
  }
  expect(await counts()).toEqual({ good: 0 })
  observerOf('bad').observe(0.002)
  observerOf('bad').observe(20)
  expect(await counts()).toEqual({ good: 0, bad: 2 })
  const { text } = await metrics.expose()
  expect(text).toContain('quorumscan_work_seconds_bucket{le="0.0025",kind="bad"} 1')
  expect(text).toContain('quorumscan_work_seconds_bucket{le="+Inf",kind="bad"} 2')
})
