/** Trees and requests in which everything is close together: short keys of few letters, times around one. */
import fc from 'fast-check'
import type { Range } from '../prune.ts'
import { keyOf } from '../tree-hash.ts'
import { leafOf, type ValuedLeaf } from './naive-tree.ts'

const AT_MAX = 4
const component = fc.string({
  unit: fc.constantFrom('a', 'b', 'B', '\u0001', 'ÿ', '😀'),
  maxLength: 3,
})
export const components = fc.array(component, { minLength: 1, maxLength: 3 })

/** Components of which one list begins another give keys of which one begins the other: trees have none. */
function isPrefixFree(leaves: readonly ValuedLeaf[]): boolean {
  const texts = leaves.map(({ key }) => Buffer.from(key).toString('latin1')).sort()
  return texts.every((text, index) => index === 0 || !text.startsWith(texts[index - 1] as string))
}

export const leaf: fc.Arbitrary<ValuedLeaf> = fc
  .tuple(components, fc.string(), fc.option(fc.integer({ min: 0, max: AT_MAX })))
  .map(([key, value, expiresAt]) => leafOf(key, value, expiresAt))

export const leaves: fc.Arbitrary<readonly ValuedLeaf[]> = fc
  .array(leaf, { maxLength: 24 })
  .map((list) => {
    const kept: ValuedLeaf[] = []
    for (const one of list) if (isPrefixFree([...kept, one])) kept.push(one)
    return kept
  })

/** Any two bounds, not only those that requests have. */
const bound = fc.oneof(
  components.map(keyOf),
  components.map((list) => keyOf(list).slice(0, -1)),
  fc.uint8Array({ maxLength: 4 }),
)

export const range: fc.Arbitrary<Range> = fc.record({
  from: bound,
  to: bound,
  limit: fc.integer({ min: 1, max: 6 }),
  at: fc.integer({ min: 0, max: AT_MAX }),
})
