import { expect, it } from 'vitest'
import {
  bool,
  decimal,
  int,
  list,
  optional,
  party,
  record,
  text,
  time,
  unit,
  variant,
} from './lf.ts'
import { toLfJson } from './lf-json.ts'

const inner = record('Inner', { b: optional(text), a: optional(int) })
const outer = record('Outer', {
  z: text,
  at: time,
  amount: decimal,
  inner,
  items: list(inner),
  choice: variant('Choice', { Left: inner, Right: unit }),
  flag: bool,
  middle: optional(time),
  owner: party,
  first: optional(text),
  last: optional(text),
})
const alice = `alice::1220${'a'.repeat(64)}`
const value = {
  z: '"quoted"',
  at: 1_700_000_000_120_000,
  amount: 15n,
  inner: { b: null, a: 3 },
  items: [
    { b: 'x', a: null },
    { b: null, a: null },
  ],
  choice: { tag: 'Left' as const, value: { b: null, a: null } },
  flag: true,
  middle: null,
  owner: alice,
  first: null,
  last: null,
}

it('members have declared order, without trailing None; times no trailing zeros (§L4.3)', () => {
  const shown = toLfJson(outer.descriptor, outer.encode(value))
  expect(JSON.stringify(shown)).toBe(
    JSON.stringify({
      z: '"quoted"',
      at: '2023-11-14T22:13:20.12Z',
      amount: '0.0000000015',
      inner: { b: null, a: '3' },
      items: [{ b: 'x' }, {}],
      choice: { tag: 'Left', value: {} },
      flag: true,
      middle: null,
      owner: alice,
    }),
  )
  expect(outer.decode(shown, [])).toEqual(value)
})

it.each([
  [0, '1970-01-01T00:00:00Z'],
  [10_000_000, '1970-01-01T00:00:10Z'],
  [1, '1970-01-01T00:00:00.000001Z'],
  [100_000, '1970-01-01T00:00:00.1Z'],
])('%d µs is %s', (micros, want) => {
  expect(toLfJson(time.descriptor, time.encode(micros))).toBe(want)
})
