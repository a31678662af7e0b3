import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createTestNetwork } from '../certified/testing/network.ts'
import { verifyEvidence } from '../statements/evidence.ts'
import type { StatePoint } from '../statements/statements.ts'
import {
  type CollectionEffect,
  certificateAt,
  createCollection,
  isNewState,
  newestCertificate,
  STATES_MAX,
  statesAfter,
  step,
} from './collection.ts'

const network = createTestNetwork(4)
const hash = (byte: number) => byte.toString(16).padStart(2, '0').repeat(32)
const pointAt = (offset: number, change: Partial<StatePoint> = {}): StatePoint => ({
  offset,
  recordTime: 1000 * offset,
  historyHash: hash(offset & 255),
  stateRoot: hash((offset + 128) & 255),
  ...change,
})

/** The collection of `sv-1`, or of a validator. */
function start(self: string | null = 'sv-1') {
  const collection = createCollection(network, self)
  return {
    collection,
    compute: (...points: StatePoint[]) => step(collection, { kind: 'computed', points }),
    sign: (index: number, point: StatePoint) =>
      step(collection, { kind: 'signed', state: network.stateOf(index, point) }),
  }
}

const kinds = (effects: readonly CollectionEffect[]) => effects.map(({ kind }) => kind)

describe('a collection of statements', () => {
  it('signs what the replica computed, and certifies it with f + 1 signatures and each further one', () => {
    const { collection, compute, sign } = start()
    const point = pointAt(5)
    expect(compute(point)).toEqual([{ kind: 'sign', point }])
    expect(sign(0, point)).toEqual([])
    expect(newestCertificate(collection, 2)).toBeNull()
    expect(sign(3, point)).toEqual([
      { kind: 'certified', certificate: network.certificateOf(point, [0, 3]) },
    ])
    expect(sign(3, point)).toEqual([])
    expect(kinds(sign(1, point))).toEqual(['certified'])
    expect(newestCertificate(collection, 3)).toEqual(network.certificateOf(point, [0, 1, 3]))
    expect(newestCertificate(collection, 4)).toBeNull()
  })

  it('certifies earlier statements of others once the replica computed the same, and nothing else', () => {
    const { collection, compute, sign } = start()
    const point = pointAt(7)
    for (const index of [1, 2, 3]) expect(sign(index, point)).toEqual([])
    expect(newestCertificate(collection, 2)).toBeNull()
    expect(kinds(compute(pointAt(6), point))).toEqual(['sign', 'certified', 'sign'])
    expect(newestCertificate(collection, 2)?.offset).toBe(7)
    expect(certificateAt(collection, 6)).toBeNull()
  })

  it('returns the newest certificate with the requested number of signers, which may be older', () => {
    const { collection, compute, sign } = start(null)
    expect(compute(pointAt(1), pointAt(2))).toEqual([])
    for (const index of [0, 1, 2]) sign(index, pointAt(1))
    for (const index of [0, 1]) sign(index, pointAt(2))
    expect(newestCertificate(collection, 2)?.offset).toBe(2)
    expect(newestCertificate(collection, 3)?.offset).toBe(1)
  })

  it('ignores fewer than f + 1 other members that contradict the local replica', () => {
    const { collection, compute, sign } = start()
    compute(pointAt(1))
    sign(0, pointAt(1))
    expect(sign(1, pointAt(1, { stateRoot: hash(1) }))).toEqual([])
    expect(sign(2, pointAt(1, { stateRoot: hash(2) }))).toEqual([])
    expect(kinds(sign(3, pointAt(1)))).toEqual(['certified'])
    expect(collection.divergence).toBeNull()
  })

  it.each([
    ['LOG_FORK', { historyHash: hash(9) }],
    ['LOG_FORK', { recordTime: 1 }],
    ['STATE_DIVERGED', { stateRoot: hash(9) }],
  ] as const)('stops for good at %s, with the statements of both sides', (code, change) => {
    const { collection, compute, sign } = start()
    compute(pointAt(1))
    for (const index of [0, 1, 2]) sign(index, pointAt(1))
    const [own, theirs] = [pointAt(2), pointAt(2, change)]
    compute(own)
    sign(0, own)
    expect(sign(2, theirs)).toEqual([])
    const divergence = { code, own, others: network.certificateOf(theirs, [2, 3]) }
    expect(sign(3, theirs)).toEqual([{ kind: 'diverged', divergence }])
    expect(collection.divergence).toEqual(divergence)
    expect(newestCertificate(collection, 2)).toBeNull()
    expect(certificateAt(collection, 1)).toBeNull()
    expect(sign(1, theirs)).toEqual([])
    expect(compute(pointAt(3))).toEqual([])
  })

  it('does not sign what f + 1 others already contradicted', () => {
    const { compute, sign } = start()
    for (const index of [1, 2]) sign(index, pointAt(4))
    expect(kinds(compute(pointAt(4, { stateRoot: hash(1) })))).toEqual(['diverged'])
  })

  it('never signs another state for an offset, nor an offset before one that it signed', () => {
    const { collection, compute } = start()
    compute(pointAt(5))
    expect(compute(pointAt(5, { stateRoot: hash(1) }), pointAt(4))).toEqual([])
    expect(collection.points.get(5)).toEqual(pointAt(5))
  })

  it('finds evidence in two statements of one member for one offset', async () => {
    const { sign } = start()
    sign(2, pointAt(8))
    const [effect, ...others] = sign(2, pointAt(8, { stateRoot: hash(1) }))
    expect(others).toEqual([])
    if (effect?.kind !== 'evidence') throw new Error('no evidence')
    await expect(verifyEvidence(effect.evidence, { genesis: network.genesis })).resolves.toEqual({
      signer: 'sv-3',
      kind: 'state',
      offset: 8,
    })
  })

  it('ignores statements of other keys', () => {
    const { compute, collection } = start()
    compute(pointAt(1))
    const state = { ...network.stateOf(1, pointAt(1)), member: 'sv-9' }
    expect(step(collection, { kind: 'signed', state })).toEqual([])
  })

  it('reports which statements are new', () => {
    const { collection, sign } = start()
    const isNew = (point: StatePoint, member = 'sv-2') =>
      isNewState(collection, { ...point, member })
    expect(isNew(pointAt(2))).toBe(true)
    for (let offset = 2; offset < 2 + STATES_MAX; offset++) sign(1, pointAt(offset))
    expect(isNew(pointAt(2))).toBe(false)
    expect(isNew(pointAt(2, { stateRoot: hash(1) })), 'equivocation').toBe(true)
    expect(isNew(pointAt(1)), 'older than all that is kept').toBe(false)
    expect(isNew(pointAt(2), 'sv-3'), 'of another member').toBe(true)
    expect(isNew(pointAt(2), 'sv-9'), 'of a stranger').toBe(false)
    expect(isNew(pointAt(2 + STATES_MAX))).toBe(true)
  })

  it('stores the last offsets, and as many statements of each member, whatever a liar sends', () => {
    const { collection, compute, sign } = start()
    const last = 3 * STATES_MAX
    const points = Array.from({ length: last }, (_, index) => pointAt(index + 1))
    // Many offsets at once, as after a pause: other members store only the last ones, too.
    const effects = compute(...points)
    expect(effects.map((effect) => effect.kind === 'sign' && effect.point.offset)).toEqual(
      points.slice(-STATES_MAX).map(({ offset }) => offset),
    )
    for (let offset = 1; offset <= last; offset++) {
      sign(0, pointAt(offset))
      sign(1, pointAt(offset))
      sign(2, pointAt(1_000_000 + offset))
    }
    expect(collection.points.size).toBe(STATES_MAX)
    for (const ofMember of collection.states.values())
      expect(ofMember.size).toBeLessThanOrEqual(STATES_MAX)
    expect(newestCertificate(collection, 2)?.offset).toBe(last)
    const own = statesAfter(collection, 'sv-1', last - 3).map(({ offset }) => offset)
    expect(own).toEqual([last - 2, last - 1, last])
    expect(statesAfter(collection, 'sv-1', 0)).toHaveLength(STATES_MAX)
  })

  it('certifies what honest members signed, in any order of events and with one lying member', () => {
    const happening = fc.record({
      index: fc.nat(3),
      offset: fc.integer({ min: 1, max: 6 }),
      lie: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 60 }), (events) => {
        const { collection, compute, sign } = start()
        for (const { index, offset, lie } of events) {
          const effects =
            index === 0
              ? compute(pointAt(offset))
              : sign(index, pointAt(offset, lie && index === 3 ? { stateRoot: hash(1) } : {}))
          for (const effect of effects) {
            expect(effect.kind).not.toBe('diverged')
            if (effect.kind === 'sign') sign(0, effect.point)
            if (effect.kind === 'evidence') expect(effect.evidence.signer).toBe('sv-4')
            if (effect.kind === 'certified')
              expect(effect.certificate).toMatchObject(pointAt(effect.certificate.offset))
          }
        }
        for (const offset of collection.points.keys()) {
          const agreed = [...collection.states.values()].filter(
            (states) => states.get(offset)?.stateRoot === pointAt(offset).stateRoot,
          )
          const certificate = certificateAt(collection, offset)
          expect(certificate?.signatures.length ?? 0).toBe(agreed.length < 2 ? 0 : agreed.length)
        }
      }),
      { numRuns: 300 },
    )
  })
})
