/** @module-tag thorough */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toBase64 } from '../encoding/base64.ts'
import { hashActivity, verifyRun } from './activity-run.ts'
import {
  append,
  EMPTY_FRONTIER,
  type Frontier,
  joinSubtrees,
  type Subtree,
  subtreesOf,
  walkToRun,
} from './append-tree.ts'
import { leafData, naiveRow, naiveRun, naiveTreeHash, treeOfRows } from './testing/naive-history.ts'
import { sha256 } from './testing/naive-tree.ts'

const COUNT_MAX = 140
const rows = Array.from({ length: COUNT_MAX }, (_, index) =>
  naiveRow(`${String(index >> 1).padStart(16, '0')}:000${index & 1}`, 1000 + (index >> 1)),
)
const leafHashes = rows.map(({ eventId, recordTime, row }) =>
  hashActivity({ eventId, recordTime, rowHash: sha256(Buffer.from(row)) }, sha256),
)

/** The tree, row by row: its frontier at each size, and each subtree that is complete. */
const frontiers: Frontier[] = [EMPTY_FRONTIER]
const wholeBySubtree = new Map<string, Uint8Array>()
const nameOf = ({ level, index }: Subtree) => `${level} ${index}`
for (const leafHash of leafHashes)
  frontiers.push(
    append(frontiers.at(-1) as Frontier, leafHash, sha256, (subtree, hash) =>
      wholeBySubtree.set(nameOf(subtree), hash),
    ),
  )
const hashOf = (start: number, count: number) =>
  joinSubtrees(
    subtreesOf(start, count).map((one) => wholeBySubtree.get(nameOf(one)) as Uint8Array),
    sha256,
  )

const runs = fc
  .tuple(fc.nat(COUNT_MAX), fc.nat(COUNT_MAX), fc.nat(COUNT_MAX))
  .map((three) => three.sort((a, b) => a - b) as [number, number, number])

describe('the activity tree', () => {
  it('has the root that RFC 9162 defines, at each size', () => {
    for (const [size, { peaks }] of frontiers.entries()) {
      const expected = naiveTreeHash(rows.slice(0, size).map(leafData))
      expect(Buffer.from(joinSubtrees(peaks, sha256)).equals(expected), `${size}`).toBe(true)
      expect(frontiers[size]?.size).toBe(size)
    }
  })

  it('has the published root of seven leaves', () => {
    // The test vectors of Certificate Transparency, which RFC 9162 leaves as they were.
    const texts = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657']
    const data = texts.map((text) => Buffer.from(text, 'hex'))
    expect(Buffer.from(naiveTreeHash(data)).toString('hex')).toBe(
      'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
    )
  })

  it('reports each subtree once, when it is complete', () => {
    for (const [name, hash] of wholeBySubtree) {
      const [level = 0, index = 0] = name.split(' ').map(Number)
      const data = rows.slice(index * 2 ** level, (index + 1) * 2 ** level).map(leafData)
      expect(data.length).toBe(2 ** level)
      expect(Buffer.from(hash).equals(naiveTreeHash(data)), name).toBe(true)
    }
    const wholeCount = (size: number) =>
      Array.from({ length: 9 }, (_, level) => Math.floor(size / 2 ** level)).reduce(
        (sum, count) => sum + count,
      )
    expect(wholeBySubtree.size).toBe(wholeCount(COUNT_MAX))
  })

  it('proves every run by the hashes that a walk to it meets', () => {
    fc.assert(
      fc.property(runs, ([first, end, size]) => {
        const run = naiveRun(rows.slice(0, size), first, end)
        const hashes: string[] = []
        const from = Math.max(0, first - 1)
        if (size > 0)
          walkToRun(
            { first: from, end: from + run.rows.length, size },
            {
              leaf: () => {},
              outside: (start, count) => void hashes.push(toBase64(hashOf(start, count))),
              pair: () => {},
            },
          )
        expect(hashes).toEqual(run.hashes)
      }),
      { numRuns: 500 },
    )
  })

  it('accepts every run with its neighbors, and separates them from it', () => {
    fc.assert(
      fc.property(runs, ([first, end, size]) => {
        const all = rows.slice(0, size)
        const run = naiveRun(all, first, end)
        const { proven, text } = verifyRun(run, treeOfRows(all), sha256)
        const placeOf = (index: number) =>
          all[index] === undefined ? null : expect.objectContaining({ eventId: all[index].eventId })
        expect(proven).toEqual({
          before: placeOf(first - 1),
          rows: all.slice(first, end),
          behind: placeOf(end),
        })
        expect(text).toBe(JSON.stringify(run))
      }),
      { numRuns: 200 },
    )
  })
})
