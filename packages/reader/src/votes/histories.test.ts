import { describe, expect, it } from 'vitest'
import { createHistories, type Fork, isForkAt, noteHistory } from './histories.ts'

const OFFSET = 7

function watching() {
  const forks: Fork[] = []
  const histories = createHistories(1)
  const note = (node: string | null, historyHash: string) => {
    const fork = noteHistory(histories, node, { offset: OFFSET, historyHash })
    if (fork !== null) forks.push(fork)
  }
  return { histories, forks, note }
}

describe('histories', () => {
  it('are a fork once two of them have f+1 nodes each', () => {
    const { histories, forks, note } = watching()
    for (const [node, hash] of [
      ['sv-1', 'a'],
      ['sv-2', 'a'],
      ['sv-3', 'b'],
    ] as const)
      note(node, hash)
    expect(isForkAt(histories, OFFSET)).toBe(false)
    note('sv-4', 'b')
    expect(isForkAt(histories, OFFSET)).toBe(true)
    expect(forks).toHaveLength(1)
  })

  it('are a fork once f+1 nodes hold another one than the local replica', () => {
    const { histories, forks, note } = watching()
    note(null, 'a')
    note('sv-3', 'b')
    expect(isForkAt(histories, OFFSET)).toBe(false)
    note('sv-4', 'b')
    expect(forks).toEqual([
      {
        offset: OFFSET,
        histories: [
          { historyHash: 'a', nodes: ['local'] },
          { historyHash: 'b', nodes: ['sv-3', 'sv-4'] },
        ],
      },
    ])
  })

  it('of one node at one offset are remembered up to four', () => {
    const { histories, note } = watching()
    for (const node of ['sv-1', 'sv-2']) note(node, 'a')
    for (let count = 0; count < 100; count++) note('sv-4', `lie ${count}`)
    // Were it remembered that sv-4 said this, there would be two nodes for it.
    note('sv-3', 'lie 99')
    expect(isForkAt(histories, OFFSET)).toBe(false)
    // It may still join what another node holds.
    note('sv-4', 'lie 99')
    expect(isForkAt(histories, OFFSET)).toBe(true)
  })
})
