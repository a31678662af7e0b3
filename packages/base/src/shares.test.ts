import { describe, expect, it } from 'vitest'
import { createShares, createTurns } from './shares.ts'

/** Takes parts until one is refused. */
function takeAll(
  { take }: ReturnType<typeof createShares<'parts'>>,
  owner: string,
  parts = 1,
): (() => void)[] {
  const releases: (() => void)[] = []
  for (let release = take(owner, { parts }); release !== null; release = take(owner, { parts }))
    releases.push(release)
  return releases
}

describe('shares', () => {
  it('leave room for an owner that holds nothing, however many are greedy', () => {
    const shares = createShares('parts', { parts: 1000 })
    const counts = Array.from({ length: 12 }, (_, index) => takeAll(shares, `user ${index}`).length)
    expect(counts[0]).toBe(200)
    expect(counts.every((count) => count > 0)).toBe(true)
    expect(shares.take('modest', { parts: 1 })).not.toBeNull()
  })

  it('bound the pool by size, not by count', () => {
    const shares = createShares('parts', { parts: 64 })
    expect(takeAll(shares, 'alice', 16)).toHaveLength(1)
    expect(shares.take('bob', { parts: 13 })).toBeNull()
    expect(shares.take('bob', { parts: 12 })).not.toBeNull()
  })

  it('a part must fit in each unit, and takes from none if it does not', () => {
    const shares = createShares('entries', { entries: 8, bytes: 100 })
    expect(shares.take('alice', { entries: 1, bytes: 26 })).toBeNull()
    expect(shares.take('alice', { entries: 3, bytes: 1 })).toBeNull()
    expect([shares.heldIn('entries'), shares.heldIn('bytes')]).toEqual([0, 0])
    shares.take('alice', { entries: 1, bytes: 0 })?.()
    shares.take('alice', { entries: 1, bytes: 25 })?.()
    expect([shares.heldIn('entries'), shares.heldIn('bytes')]).toEqual([0, 0])
  })

  it('a part that is given back is free again, once', () => {
    const shares = createShares('parts', { parts: 10 })
    const [first, second] = takeAll(shares, 'alice')
    expect(shares.take('alice', { parts: 1 })).toBeNull()
    first?.()
    first?.()
    second?.()
    expect(takeAll(shares, 'alice')).toHaveLength(2)
  })

  it('what exists already is held, and may only shrink', () => {
    const shares = createShares('parts', { parts: 10 })
    const releases = Array.from({ length: 12 }, () => shares.hold('alice', { parts: 1 }))
    expect(shares.take('alice', { parts: 1 })).toBeNull()
    expect(shares.take('bob', { parts: 1 })).toBeNull()
    for (const release of releases) release()
    expect(shares.take('bob', { parts: 1 })).not.toBeNull()
  })

  it('the usage of an owner grows with what it holds, and as others leave less', () => {
    let limit = 20
    const shares = createShares('parts', { parts: () => limit })
    expect(shares.usageBy('alice')).toBe(0)
    shares.hold('alice', { parts: 4 })
    expect([shares.usageBy('alice'), shares.usageBy('bob')]).toEqual([1, 0])
    shares.hold('bob', { parts: 8 })
    expect([shares.usageBy('alice'), shares.usageBy('bob')]).toEqual([2, 4])
    limit = 12
    expect([shares.usageBy('alice'), shares.usageBy('carol')]).toEqual([Infinity, Infinity])
  })
})

describe('turns', () => {
  it('an item waits for one of each other owner, and for those before it of its own', () => {
    const turns = createTurns<string>('items')
    for (const item of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'])
      turns.push(item.slice(0, 1), item)
    const first = [turns.shift(), turns.shift()]
    turns.push('c', 'c2')
    const rest = Array.from({ length: 7 }, () => turns.shift())
    expect([...first, ...rest]).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3', 'a4', undefined])
    expect(turns.size()).toBe(0)
  })

  it('an item that is taken out of turn leaves the turns as they are', () => {
    const turns = createTurns<string>('items')
    for (const item of ['a1', 'a2', 'b1']) turns.push(item.slice(0, 1), item)
    expect(turns.shiftOf('b')).toBe('b1')
    expect([turns.has('b'), turns.shiftOf('b'), turns.size()]).toEqual([false, undefined, 2])
    expect([turns.owners(), turns.shift(), turns.shift()]).toEqual([['a'], 'a1', 'a2'])
  })
})
