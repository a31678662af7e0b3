import { expect, it } from 'vitest'
import { bar, chart, curve, label, roundTimes, toSvg } from './timeline.ts'

const window = { fromMs: 1000, toMs: 5000 }

it('positions time ranges by percentages of the width, and clips them to the window', () => {
  const [, attributes] = bar(window, { fromMs: 0, toMs: 2000, y: 1, height: 2, className: 'c' })
  expect(attributes).toMatchObject({ x: '0.00%', width: '25.00%' })
})

it('writes a label to the right of its time, and to the left in the second half', () => {
  const sideOf = (atMs: number) => label(window, { atMs, y: 0, text: '' })[1]['textAnchor']
  expect([1000, 2900, 3100].map(sideOf)).toEqual(['start', 'start', 'end'])
})

it('connects points of a curve on request, and otherwise draws dots', () => {
  const points = [
    [1000, 0],
    [2000, 1],
    [5000, 2],
  ] as const
  const joined = (beforeMs: number, atMs: number) => atMs - beforeMs < 2000
  const [, , path] = curve(window, { points, height: 2, className: '', joined })
  expect(path?.[1]).toMatchObject({ d: 'M0.0 0.0h0L250.0 1.0M1000.0 2.0h0' })
})

it('the scale has few ticks at round intervals, from the begin on', () => {
  expect(roundTimes({ fromMs: 500, toMs: 60_500 })).toEqual([
    500, 10_500, 20_500, 30_500, 40_500, 50_500, 60_500,
  ])
})

it('the SVG text has all values escaped', () => {
  const text = toSvg(
    chart({
      title: '<script>"',
      window,
      height: 10,
      isScale: true,
      names: [{ y: 5, text: '<b>' }],
      ticks: [{ atMs: 5000, text: '5 s' }],
      shapes: [],
    }),
  )
  expect(text).toMatch(/^<svg class="timeline" height="28" role="img" aria-label="&#60;script/)
  expect(text).toContain('text-anchor="end">&#60;b&#62;</text>')
  expect(text).not.toMatch(/<script|<b>/)
})
