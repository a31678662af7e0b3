import type { Shape } from 'quorumscan/view'
import { expect, it } from 'vitest'
import type { LiveEvent, Sample } from './api.ts'
import { drawLookups, faultBands, gapsOf, niceMax } from './chart.ts'
import { msOf } from './time.ts'

it('a fault is shaded from its beginning to its end, or until now', () => {
  const event = (second: number, kind: LiveEvent['kind'], sentence: string): LiveEvent => ({
    at: `2026-01-01T00:00:0${second}.000000Z`,
    kind,
    node: 'sv-2',
    sentence,
  })
  const bands = faultBands(
    [event(1, 'fault', 'sv-2 killed'), event(4, 'healed', 'sv-2 no longer killed')],
    [
      {
        id: 'fault-2',
        spec: { kind: 'lie', node: 'sv-3', lie: 'deny' },
        words: 'lies: deny',
        startedAt: '2026-01-01T00:00:05.000000Z',
        endsAt: null,
      },
    ],
  )
  expect(bands.map(({ label, fromMs, toMs }) => [label, toMs - fromMs])).toEqual([
    ['sv-2 killed', 3000],
    ['sv-3 lies: deny', Infinity],
  ])
})

it.each([
  [0, 1],
  [7, 10],
  [12, 20],
  [201, 500],
])('the scale for %d ends at %d', (value, want) => {
  expect(niceMax(value)).toBe(want)
})

it('shades overlapping faults only once, as one group', () => {
  const band = (fromMs: number, toMs: number) => ({ label: '', fromMs, toMs })
  const bands = [band(1, 5), band(2, 3), band(9, Infinity)]
  const [, , ...shapes] = drawLookups({ samples: [], bands }, { fromMs: 0, toMs: 10 })
  const groups = shapes.filter(([tag]) => tag === 'g') as Shape[]
  expect(groups.map(([, { className }]) => className)).toEqual(['bands'])
  const [, , ...bars] = groups[0] as Shape
  expect((bars as Shape[]).map(([, { x, width }]) => [x, width])).toEqual([
    ['10.00%', '40.00%'],
    ['20.00%', '10.00%'],
    ['90.00%', '10.00%'],
  ])
})

it('draws a lane for each fault, newest first, and counts those that do not fit', () => {
  const bands = Array.from({ length: 10 }, (_, index) => ({
    label: `fault ${index}`,
    fromMs: index,
    toMs: Infinity,
  }))
  const [, attributes, ...shapes] = drawLookups({ samples: [], bands }, { fromMs: 0, toMs: 100 })
  const texts = shapes.flatMap((shape) =>
    shape[0] === 'text' && shape[1] !== undefined ? [String((shape as Shape)[2])] : [],
  )
  const labels = texts.filter((text) => /fault|earlier/.test(text))
  expect(labels).toEqual([
    ...[9, 8, 7, 6, 5, 4, 3, 2].map((index) => `fault ${index}`),
    'and 2 earlier',
  ])
  expect(attributes['aria-label']).toBe('Lookups: 0 answered, 0 without an answer')
})

it('distinguishes a time without lookups from one without answers', () => {
  const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}.000000Z`
  const ms = (second: number) => msOf(at(second))
  const sample = (second: number, outcome: string) =>
    ({ at: at(second), outcome, latencyMs: 1 }) as Sample
  const samples = [
    sample(7, 'verified'),
    sample(8, 'NOT_ENOUGH_NODES'),
    sample(14, 'verified'),
    sample(15, 'unreachable'),
    sample(21, 'verified'),
    sample(22, 'verified'),
    sample(23, 'CONSENSUS_DISPUTED'),
  ]
  expect(gapsOf(samples, ms(0), ms(29))).toEqual([
    { fromMs: ms(0), toMs: ms(7), label: 'not measured' },
    { fromMs: ms(7), toMs: ms(14), label: 'refused' },
    { fromMs: ms(14), toMs: ms(21), label: 'no answer' },
    { fromMs: ms(22), toMs: ms(29), label: 'disputed' },
  ])
})
