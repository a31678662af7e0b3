/** The tables of test/bench/README.md are generated from test/bench/results. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { atLeast, printRow, printSkipped, takeRows } from './report.ts'
import { OLDER, type Result, readResults, withTables } from './results.ts'

const README = 'test/bench/README.md'
const RESULT: Result = {
  part: 'names',
  size: 'quick',
  commit: 'a'.repeat(40),
  date: '2026-01-02T03:04:05.000000Z',
  processor: 'A processor',
  cores: 2,
  node: 'v20.20.0',
  rows: [
    { what: 'reads ÷ writes', values: [0.3, 0.4, 0.6], budget: { kind: 'at least', value: 0.5 } },
    { what: 'start', values: [2], unit: 's', budget: null },
  ],
}
const PLACE = ['before', '<!-- results of names -->', 'old', '<!-- end of results -->', 'after']

describe('tables of benchmarks', () => {
  it('are generated from the results in the repository', () => {
    const text = readFileSync(README, 'utf8').replaceAll(OLDER, '')
    expect(text).toBe(withTables(text, readResults(), () => false))
  })

  it('show the median, spread and budget of each row, and the measured commit', () => {
    expect(withTables(PLACE.join('\n'), [RESULT], () => true).split('\n')).toEqual([
      ...PLACE.slice(0, 2),
      `Measured at \`aaaaaaaa\` on 2026-01-02, size \`quick\`, 2 × A processor, Node 20.20.0.${OLDER}`,
      '',
      '|  | budget | median | least–most |',
      '| --- | --- | --- | --- |',
      '| reads ÷ writes | ≥ 0.5 | **0.400** | 0.300–0.600 |',
      '| start |  | 2.00 s |  |',
      ...PLACE.slice(3),
    ])
  })

  it('fail without a place for a result', () => {
    const misplaced = { ...RESULT, part: 'streams' }
    expect(() => withTables(PLACE.join('\n'), [misplaced], () => true)).toThrow(/streams/)
  })
})

it('a ratio to a side that served nothing is no result, and ends its part', () => {
  const row = { what: 'reads ÷ baseline', values: [2, 5 / 0, 3], budget: atLeast(1) }
  expect(() => printRow(row)).toThrow('reads ÷ baseline: 2, Infinity, 3 is no result')
})

it('a part that measures nothing fails, unless it is skipped by name', () => {
  expect(takeRows).toThrow('no figure was measured')
  printSkipped('everything with a driver that is missing')
  expect(takeRows()).toEqual([])
})
