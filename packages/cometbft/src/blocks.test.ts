import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Block, genesisTip, orderBlock, type Tip } from './blocks.ts'

const START = 1_700_000_000_000_000
const genesis = genesisTip({ hash: 'ab'.repeat(32), recordTime: START })

const blocks = fc.array(
  fc.record({
    // Block time stalls and steps back against record time, which may have run ahead of it.
    timeMicros: fc.integer({ min: START - 10, max: START + 30 }),
    entries: fc.array(fc.uint8Array({ minLength: 1, maxLength: 8 }), { maxLength: 5 }),
  }),
  { maxLength: 20 },
)

function order(content: readonly Omit<Block, 'height'>[]) {
  let tip: Tip = genesis
  return content.map((block) => {
    const before = tip
    const ordered = orderBlock(tip, { ...block, height: tip.height + 1 })
    tip = ordered.tip
    return { block, before, ...ordered }
  })
}

describe('blocks', () => {
  it('make a gapless log whose record time rises by at least a microsecond an entry', () => {
    fc.assert(
      fc.property(blocks, (content) => {
        let offset = 0
        let recordTime = START
        for (const { block, group, tip } of order(content)) {
          expect(group.firstOffset).toBe(offset + 1)
          expect(group.entries.map(({ bytes }) => bytes)).toEqual(
            block.entries.length === 0 ? [new Uint8Array()] : block.entries,
          )
          const first = Math.max(recordTime + 1, block.timeMicros)
          expect(group.entries.map((entry) => entry.recordTime)).toEqual(
            group.entries.map((_, index) => first + index),
          )
          offset += group.entries.length
          recordTime = first + group.entries.length - 1
          expect(tip).toMatchObject({ offset, recordTime })
          expect(group.lastOffset).toBe(offset)
        }
      }),
    )
  })

  it('are chained, and change the app hash only if they contain entries', () => {
    fc.assert(
      fc.property(blocks, (content) => {
        const seen = new Set([genesis.appHash])
        for (const { block, before, group, tip } of order(content)) {
          expect(group.previousHash).toBe(before.hash)
          expect(tip.hash).not.toBe(before.hash)
          if (block.entries.length === 0) expect(tip.appHash).toBe(before.appHash)
          else expect(seen.has(tip.appHash)).toBe(false)
          seen.add(tip.appHash)
        }
      }),
    )
  })

  it('must have consecutive heights', () => {
    const block = { timeMicros: START, entries: [] }
    expect(() => orderBlock(genesis, { ...block, height: 2 })).toThrow('does not follow 0')
  })
})
