import { expect, it } from 'vitest'
import { held, heldSizes } from './held.ts'

const ABOUT = { owner: 'test', kind: 'work', bound: 9 } as const

const sizeOf = (name: string) =>
  heldSizes().find((one) => one.owner === ABOUT.owner && one.name === name)?.size

it('a collection is reported with its present size', () => {
  const collection = held({ ...ABOUT, name: 'parts' }, new Set<number>())
  expect(sizeOf('parts')).toBe(0)
  collection.add(1).add(2)
  expect(sizeOf('parts')).toBe(2)
  collection.delete(1)
  expect(heldSizes()).toContainEqual({ ...ABOUT, name: 'parts', size: 1 })
})

it('collections of one name are counted together', () => {
  const both = [1, 2].map((value) => held({ ...ABOUT, name: 'halves' }, new Set([value])))
  expect(sizeOf('halves')).toBe(2)
  both[0]?.clear()
  expect(sizeOf('halves')).toBe(1)
})

it.each([
  ['of the same name are added', [9, 4], 13],
  ['are a sentence if one of them is', [9, 'one of each', 4], 'one of each'],
])('bounds %s', (name, bounds, sum) => {
  const all = bounds.map((bound) => held({ ...ABOUT, name, bound }, new Set<number>()))
  expect(heldSizes()).toContainEqual({ ...ABOUT, name, size: 0, bound: sum })
  expect(all).toHaveLength(bounds.length)
})

it('a function can count something else than the members', () => {
  const about = { ...ABOUT, name: 'bytes' }
  const parts = held(about, [new Uint8Array(3), new Uint8Array(4)], (all) => all.length * 10)
  parts.pop()
  expect(sizeOf('bytes')).toBe(10)
})
