/** @module-tag thorough */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvalidProof } from './invalid-proof.ts'
import { type Pruned, prune, type Range } from './prune.ts'
import {
  encodeProof,
  type ProofItem,
  type ProvenLeaf,
  shownLeaves,
  verifyRanges,
} from './range-proof.ts'
import * as arbitrary from './testing/arbitraries.ts'
import {
  buildNaiveTree,
  leafOf,
  leavesIn,
  type NaiveNode,
  naiveReader,
  naiveRootHash,
  sha256,
  type ValuedLeaf,
} from './testing/naive-tree.ts'
import { DEPTH_MAX, keyOf } from './tree-hash.ts'

const encode = (pruned: Pruned | null): readonly ProofItem[] =>
  JSON.parse(`[${encodeProof(pruned, (leaf) => (leaf as ValuedLeaf).value)}]`)

function prove(leaves: readonly ValuedLeaf[], range: Range): readonly ProofItem[] {
  const root = buildNaiveTree(leaves)
  return encode(root && prune(naiveReader, root, range))
}

const verify = (leaves: readonly ValuedLeaf[], proof: unknown, range: Range) => {
  const root = naiveRootHash(leaves)
  const ranges = [range]
  const text = typeof proof === 'string' ? proof : JSON.stringify(proof)
  const [run] = verifyRanges({ proof: text, root, ranges, at: range.at, sha256 })
  return run as readonly ProvenLeaf[]
}

/** The leaves that the verifier accepts; null: it refuses the proof. */
function judge(leaves: readonly ValuedLeaf[], proof: unknown, range: Range) {
  try {
    return verify(leaves, proof, range)
  } catch (error) {
    if (error instanceof InvalidProof) return null
    throw error
  }
}

describe('a proof', () => {
  it('shows the visible leaves of its range, in order, and no other proof is accepted', () => {
    fc.assert(
      fc.property(arbitrary.leaves, arbitrary.range, (leaves, range) => {
        expect(verify(leaves, prove(leaves, range), range)).toEqual(leavesIn(leaves, range))
      }),
      { numRuns: 1000 },
    )
  })

  it('of another request, or of another set of leaves, passes only if it proves the same', () => {
    fc.assert(
      fc.property(
        arbitrary.leaves,
        arbitrary.leaves,
        arbitrary.range,
        arbitrary.range,
        (leaves, others, range, other) => {
          for (const proof of [prove(leaves, other), prove(others, range)]) {
            const judged = judge(leaves, proof, range)
            if (judged !== null) expect(judged).toEqual(leavesIn(leaves, range))
          }
        },
      ),
      { numRuns: 1000 },
    )
  })

  it('that cuts the true tree in other places is refused', () => {
    fc.assert(
      fc.property(
        arbitrary.leaves,
        arbitrary.range,
        fc.infiniteStream(fc.nat(5)),
        (leaves, range, dice) => {
          const root = buildNaiveTree(leaves)
          if (root === null) return
          const forged = encode(cutAnywhere(root, () => dice.next().value as number))
          const isHonest = JSON.stringify(forged) === JSON.stringify(prove(leaves, range))
          expect(judge(leaves, forged, range)).toEqual(isHonest ? leavesIn(leaves, range) : null)
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('with a part changed, removed, doubled or moved is refused', () => {
    fc.assert(
      fc.property(arbitrary.leaves, arbitrary.range, fc.nat(), fc.nat(), (leaves, range, a, b) => {
        const proof = prove(leaves, range)
        const text = JSON.stringify(proof)
        for (const forged of mutantsOf(proof, a, b))
          if (JSON.stringify(forged) !== text) expect(judge(leaves, forged, range)).toBeNull()
      }),
      { numRuns: 500 },
    )
  })

  it('with any changed byte is refused', () => {
    const leaves = ['a', 'ab', 'b', 'c', 'd', 'da'].map((name) =>
      leafOf(['n', name, '00'], `"${name}"`, 9),
    )
    const range = rangeOf(['n', 'b'], ['n', 'd'])
    const text = JSON.stringify(prove(leaves, range))
    for (let index = 0; index < text.length; index++)
      for (const change of [1, 2, 16, 32]) {
        const changed =
          text.slice(0, index) +
          String.fromCharCode(text.charCodeAt(index) ^ change) +
          text.slice(index + 1)
        expect(judge(leaves, changed, range), `${index}: ${changed}`).toBeNull()
      }
  })
})

describe('forgeries that look right', () => {
  const names = ['alice', 'alicf', 'bob', 'carol', 'caroline', 'dave']
  const leaves = names.map((name) => leafOf(['n', name, '00'], `"${name}"`, 5))
  const byName = (name: string, at = 0): Range => ({
    from: keyOf(['n', name]),
    to: bytesBehind(keyOf(['n', name])),
    limit: 1,
    at,
  })

  it('a present name is not proven absent by a tree without it, nor by its neighbors', () => {
    const without = leaves.filter((_, index) => index !== 2)
    expect(judge(leaves, prove(without, byName('bob')), byName('bob'))).toBeNull()
    for (const neighbor of names.filter((name) => name !== 'bob'))
      expect(judge(leaves, prove(leaves, byName(neighbor)), byName('bob'))).toBeNull()
    expect(judge(leaves, [], byName('bob'))).toBeNull()
  })

  it('an absent name is proven by the gap, and is not proven present', () => {
    for (const name of ['alicd', 'alicee', 'b', 'zoe', '']) {
      expect(verify(leaves, prove(leaves, byName(name)), byName(name)), name).toEqual([])
      const other = [...leaves, leafOf(['n', name, '00'], '"mallory"', 5)]
      expect(judge(leaves, prove(other, byName(name)), byName(name)), name).toBeNull()
    }
  })

  it('an expired leaf is absent, and cannot be shown as if it were visible', () => {
    expect(verify(leaves, prove(leaves, byName('bob', 5)), byName('bob', 5))).toEqual([])
    expect(judge(leaves, prove(leaves, byName('bob', 4)), byName('bob', 5))).toBeNull()
    expect(judge(leaves, prove(leaves, byName('bob', 5)), byName('bob', 4))).toBeNull()
    const allExpired = rangeOf(['n'], ['o'], 5)
    expect(verify(leaves, prove(leaves, allExpired), allExpired)).toEqual([])
  })

  it('a run that ends at its limit proves nothing about later keys', () => {
    const range = { ...rangeOf(['n'], ['o']), limit: 3 }
    expect(verify(leaves, prove(leaves, range), range).map(textOf)).toEqual([
      '"alice"',
      '"alicf"',
      '"bob"',
    ])
    // Shorter or longer than its limit, it is another proof.
    for (const limit of [2, 4])
      expect(judge(leaves, prove(leaves, { ...range, limit }), range)).toBeNull()
  })

  it('the only leaf proves itself and every gap', () => {
    const [bob] = leaves.slice(2, 3)
    const one = [bob as ValuedLeaf]
    expect(verify(one, prove(one, byName('bob')), byName('bob')).map(textOf)).toEqual(['"bob"'])
    expect(verify(one, prove(one, byName('eve')), byName('eve'))).toEqual([])
  })

  it('the empty tree proves absence of everything, and no other tree is empty', () => {
    expect(verify([], [], byName('bob'))).toEqual([])
    expect(judge([], prove(leaves, byName('eve')), byName('eve'))).toBeNull()
  })

  it('a second text with the same UTF-8 is refused', () => {
    const odd = [leafOf(['n', 'bob', '00'], '"\ufffd"')]
    const proof = JSON.stringify(prove(odd, byName('bob'))).replace('\ufffd', '\\ud800')
    expect(judge(odd, proof, byName('bob'))).toBeNull()
  })

  it('two leaves whose keys join to one text with a NUL are not confused', () => {
    const range = byName('a')
    const [split] = prove([leafOf(['n', 'a', '00'], '"x"')], range) as [object]
    const joined = [{ ...split, key: ['n', 'a\u000000'] }]
    expect(judge([leafOf(['n', 'a', '00'], '"x"')], joined, range)).toBeNull()
  })

  it('names that crowd around a victim make its proof longer, and no more', () => {
    const victim = 'victim.unverified.ns'
    const crowd = Array.from({ length: 8 * victim.length }, (_, bit) => {
      const bytes = Buffer.from(victim)
      bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (0x80 >> (bit & 7))
      return bytes.toString('latin1')
    }).filter((name) => name !== victim && !name.includes('\0') && /^[ -~]*$/.test(name))
    const crowded = [victim, ...crowd].map((name) =>
      leafOf(['n', name, '00'.repeat(33)], `"${name}"`),
    )
    const proof = prove(crowded, byName(victim))
    expect(verify(crowded, proof, byName(victim)).map(textOf)).toEqual([`"${victim}"`])
    expect(JSON.stringify(proof).length).toBeLessThan(12 * 1024)
  })
})

describe('an invalid proof', () => {
  const leaves = [leafOf(['a'], 'x')]
  const range = rangeOf(['a'], ['b'])

  it.each([
    [null],
    ['[]'],
    [{}],
    [[null]],
    [[true]],
    [['']],
    [['AAAA']],
    [[0]],
    [[0, 0, 0]],
    [[-1, 'a', 'b']],
    [[0.5, 'a', 'b']],
    [[65_536, 'a', 'b']],
    [[{}]],
    [''],
    ['['],
    [' [{"expires_at":null,"key":["a"],"value":"x"}]'],
    ['[{"expires_at":null,"expires_at":null,"key":["a"],"value":"x"}]'],
    [[{ expires_at: null, key: 'a', value: 'x' }]],
    [[{ key: ['a'], value: 'x' }]],
    [[{ expires_at: '1', key: ['a'], value: 'x' }]],
    [[{ expires_at: null, key: ['a'] }]],
    [[{ expires_at: null, key: ['a'.repeat(500)], value: 'x' }]],
    [[{ expires_at: null, key: ['a'], value: 'x', more: 1 }]],
    [[{ key: ['a'], expires_at: null, value: 'x' }]],
    [[{ expires_at: null, key: ['a'], value: 'x' }, 'more']],
  ])('%j is refused', (proof) => {
    expect(() => verify(leaves, proof, range)).toThrow(InvalidProof)
  })

  it('with the deepest possible nesting is refused like any other', () => {
    const proof = [
      ...Array.from({ length: DEPTH_MAX }, (_, bit) => bit),
      ...Array(DEPTH_MAX + 1).fill('x'),
    ]
    expect(() => verify(leaves, proof, range)).toThrow(InvalidProof)
    const hash = Buffer.alloc(32).toString('base64')
    const deep = [
      ...Array.from({ length: DEPTH_MAX }, (_, bit) => bit),
      ...Array(DEPTH_MAX + 1).fill(hash),
    ]
    expect(() => verify(leaves, deep, range)).toThrow('another tree')
  })
})

const textOf = ({ value }: ProvenLeaf) => value

function rangeOf(from: readonly string[], to: readonly string[], at = 0): Range {
  return { from: keyOf(from), to: keyOf(to), limit: 100, at }
}

/** The first key after all that begin with `key`, whose last byte is zero. */
function bytesBehind(key: Uint8Array): Uint8Array {
  return Uint8Array.of(...key.slice(0, -1), 1)
}

/** The true tree, cut at random, with leaves shown either way. */
function cutAnywhere(node: NaiveNode, roll: () => number): Pruned {
  const face = roll()
  if (face === 0) return { kind: 'hash', hash: naiveReader.hash(node) }
  if ('leaf' in node) return { kind: 'leaf', leaf: node.leaf, isVisible: face > 1 }
  const { bit, left, right } = node
  return { kind: 'inner', bit, left: cutAnywhere(left, roll), right: cutAnywhere(right, roll) }
}

function* mutantsOf(proof: readonly ProofItem[], a: number, b: number): Generator<unknown> {
  if (proof.length === 0) return yield ['']
  const [first, second] = [a % proof.length, b % proof.length]
  const item = proof[first] as ProofItem
  const replaced = (other: unknown) => proof.map((old, index) => (index === first ? other : old))
  yield proof.filter((_, index) => index !== first)
  yield proof.flatMap((old, index) => (index === first ? [old, old] : [old]))
  yield proof.map((old, index) => (index === first ? proof[second] : index === second ? item : old))
  yield proof.slice(0, first)
  yield [...proof, item]
  if (typeof item === 'number') {
    yield replaced(item + 1)
    yield replaced(item - 1)
  } else if (typeof item === 'string') yield replaced(Buffer.alloc(32, 1).toString('base64'))
  else {
    const { key, expires_at } = item
    yield replaced({ ...item, expires_at: expires_at === null ? 0 : expires_at + 1 })
    yield replaced({ ...item, expires_at: expires_at === null ? 1 : null })
    yield replaced({ ...item, key: [...key, 'x'] })
    yield replaced({ expires_at, key, value: 'another' })
    yield replaced({ expires_at, key, value_hash: Buffer.alloc(32, 1).toString('base64') })
  }
}

describe('what a proof shows', () => {
  const all: Range = { from: Uint8Array.of(), to: Uint8Array.of(255), limit: 1_000_000, at: 0 }

  it('is in the tree, visible and in canonical form, for any prover and any ranges', () => {
    fc.assert(
      fc.property(
        arbitrary.leaves,
        arbitrary.leaves,
        fc.array(arbitrary.range, { maxLength: 3 }),
        fc.array(fc.tuple(fc.nat(), fc.nat())),
        (leaves, others, ranges, swaps) => {
          const at = ranges[0]?.at ?? 0
          const show = (proof: string) =>
            shownLeaves({ proof, root: naiveRootHash(leaves), at, sha256 })
          const items = ranges.flatMap((range) => prove(leaves, { ...range, at }))
          const shown = show(JSON.stringify(items))
          expect(shown).toEqual(ranges.flatMap((range) => leavesIn(leaves, { ...range, at })))

          const visible = leavesIn(leaves, { ...all, at }).map((leaf) => JSON.stringify(leaf))
          const forged: unknown[] = [...items]
          for (const [from, to] of swaps)
            if (from < forged.length) forged.splice(to % forged.length, 1, forged[from])
          const texts = [forged, [...items, 'AA=='], items.slice(1), prove(others, { ...all, at })]
          for (const text of texts.map((list) => JSON.stringify(list))) {
            try {
              for (const leaf of show(text)) expect(visible).toContain(JSON.stringify(leaf))
            } catch (error) {
              if (!(error instanceof InvalidProof)) throw error
            }
          }
        },
      ),
      { numRuns: 500 },
    )
  })

  it('is refused if it has more content, another form, or a later order', () => {
    const leaf = leafOf(['n', 'alice', ''], '{}', 7)
    const range = { ...all, at: 6 }
    const [item] = prove([leaf], range) as [object]
    const show =
      (proof: unknown, at = 6) =>
      () =>
        shownLeaves({ proof: JSON.stringify(proof), root: naiveRootHash([leaf]), at, sha256 })
    expect(show([item, item])()).toHaveLength(2)
    expect(show([])()).toEqual([])
    for (const proof of [[{ ...item, more: 1 }], [item, 0], {}, [{ ...item, value: '[]' }]])
      expect(show(proof), JSON.stringify(proof)).toThrow(InvalidProof)
    expect(show([item], 7)).toThrow('expired')
  })
})
