import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Candidate, countToAsk, drawOrder, takeSample } from './ask.ts'

describe('the count of further nodes', () => {
  it.each([
    // With n = 4 and a threshold of 2.
    ['none has been asked', { largestGroupSize: 0, expectedCount: 0, askedCount: 0 }, 2],
    ['both may answer', { largestGroupSize: 0, expectedCount: 2, askedCount: 2 }, 0],
    ['one has answered', { largestGroupSize: 1, expectedCount: 1, askedCount: 2 }, 0],
    ['one is silent', { largestGroupSize: 1, expectedCount: 0, askedCount: 2 }, 1],
    ['both are silent', { largestGroupSize: 0, expectedCount: 0, askedCount: 2 }, 2],
    ['they disagree', { largestGroupSize: 1, expectedCount: 0, askedCount: 2 }, 1],
    ['a third one may decide', { largestGroupSize: 1, expectedCount: 1, askedCount: 3 }, 0],
    ['a third one did not decide', { largestGroupSize: 1, expectedCount: 0, askedCount: 3 }, 2],
  ])('is right when %s', (_, round, count) => {
    expect(countToAsk({ threshold: 2, ...round })).toBe(count)
  })

  it('reaches all of thirteen nodes in four steps, although liars agree with each other', () => {
    let askedCount = 5
    const asked = [askedCount]
    while (askedCount < 13) {
      askedCount += countToAsk({ threshold: 5, largestGroupSize: 4, expectedCount: 0, askedCount })
      asked.push(askedCount)
    }
    expect(asked).toEqual([5, 6, 8, 12, 20])
  })

  it('asks for no more than the missing votes at first, and always for those', () => {
    const round = fc.record({
      threshold: fc.integer({ min: 1, max: 13 }),
      largestGroupSize: fc.nat(13),
      expectedCount: fc.nat(13),
      askedCount: fc.nat(13),
    })
    fc.assert(
      fc.property(round, (one) => {
        const missing = one.threshold - one.largestGroupSize - one.expectedCount
        const count = countToAsk(one)
        if (missing <= 0) expect(count).toBe(0)
        else if (one.askedCount <= one.threshold) expect(count).toBe(missing)
        else expect(count).toBeGreaterThanOrEqual(missing)
      }),
    )
  })
})

describe('the order of asking', () => {
  /** How often each of the candidates comes first, of 4000 draws. */
  const firsts = (candidates: readonly Candidate[]) => {
    const counts = candidates.map(() => 0)
    for (let draw = 0; draw < 4000; draw++) {
      const [first] = drawOrder(candidates, { medianMs: 3, random })
      const index = candidates.indexOf(first as Candidate)
      counts[index] = (counts[index] ?? 0) + 1
    }
    return counts.map((count) => count / 4000)
  }
  let state = 7
  const random = () => {
    state = (state * 48_271) % 0x7fff_ffff
    return state / 0x7fff_ffff
  }
  const node = (usualMs: number, doubt: Candidate['doubt'] = 0) => ({ usualMs, doubt })

  it('gives equal nodes equal places', () => {
    for (const share of firsts([node(3), node(3), node(3), node(3)]))
      expect(share).toBeCloseTo(0.25, 1)
  })

  it('gives no first place to a node that is quicker than the median', () => {
    const [liar = 0, ...honest] = firsts([node(0.001), node(3), node(3), node(3)])
    expect(liar).toBeCloseTo(0.25, 1)
    for (const share of honest) expect(share).toBeCloseTo(0.25, 1)
  })

  it('gives nodes that take no measurable time the places of others', () => {
    const noTime = [node(0), node(0), node(3), node(3)]
    for (const medianMs of [0, 3])
      for (const drawn of [() => 0, () => 0.5])
        expect(drawOrder(noTime, { medianMs, random: drawn })).toHaveLength(4)
    const counts = [0, 0, 0, 0]
    for (let draw = 0; draw < 4000; draw++) {
      const [first] = drawOrder(noTime, { medianMs: 0, random })
      const index = noTime.indexOf(first as Candidate)
      counts[index] = (counts[index] ?? 0) + 1
    }
    // The slower ones have a ninth of the weight, and not none.
    expect(Math.min(...counts) / 4000).toBeGreaterThan(0.02)
  })

  it('asks slow nodes seldom', () => {
    const [slow = 1] = firsts([node(300), node(3), node(3), node(3)])
    expect(slow).toBeLessThan(0.01)
  })

  it('begins with nodes that nothing is known against, however slow', () => {
    const order = drawOrder([node(1, 2), node(1, 1), node(500), node(1, 2)], {
      medianMs: 1,
      random,
    })
    expect(order.map(({ doubt }) => doubt)).toEqual([0, 1, 2, 2])
  })

  it('has each candidate once', () => {
    const some = fc.array(fc.record({ usualMs: fc.nat(1000), doubt: fc.constantFrom(0, 1, 2) }))
    fc.assert(
      fc.property(some, (candidates) => {
        const order = drawOrder(candidates as Candidate[], { medianMs: 3, random })
        expect(new Set(order)).toEqual(new Set(candidates))
        expect(order.length).toBe(candidates.length)
      }),
    )
  })
})

describe('the sample', () => {
  /** How many of the reads were sampled, and the longest time without a sample. */
  const sampled = (batchSize: number, everyMs: number, forMs: number) => {
    const sample = { atMs: 0, votesAtMs: 0, readCount: 0 }
    let readCount = 0
    let sampledCount = 0
    let lastMs = 0
    let longestMs = 0
    for (let nowMs = 0; nowMs < forMs; nowMs += everyMs) {
      readCount += batchSize
      if (!takeSample(sample, batchSize, nowMs)) continue
      sampledCount += batchSize
      longestMs = Math.max(longestMs, nowMs - lastMs)
      lastMs = nowMs
    }
    return { share: sampledCount / readCount, longestMs }
  }

  it.each([
    [1, 1],
    [10, 1],
    [30, 5],
  ])('has one of 64 reads, of batches of %i every %i ms', (batchSize, everyMs) => {
    const { share, longestMs } = sampled(batchSize, everyMs, 60_000)
    expect(share).toBeGreaterThan(1 / 70)
    expect(share).toBeLessThan(1 / 55)
    expect(longestMs).toBeLessThanOrEqual(1000)
  })

  it('is taken once a second however few reads there are', () => {
    const { share, longestMs } = sampled(1, 100, 60_000)
    expect(share).toBeCloseTo(0.1, 1)
    expect(longestMs).toBe(1000)
  })

  it('is taken once a second although earlier ones were large', () => {
    const sample = { atMs: 0, votesAtMs: 0, readCount: 0 }
    for (let nowMs = 0; nowMs < 10_000; nowMs += 10) takeSample(sample, 256, nowMs)
    expect(takeSample(sample, 1, sample.atMs + 1000)).toBe(true)
  })
})
