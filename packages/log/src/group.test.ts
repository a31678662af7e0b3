import { createKeyPair } from '@quorumscan/base'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chainStart, extendChain } from './chain.ts'
import {
  decodeGroup,
  encodeGroup,
  type Group,
  groupBytesOf,
  openGroup,
  signGroup,
} from './group.ts'
import { genesis, keyPair } from './testing/signed-groups.ts'

const groups: fc.Arbitrary<Group> = fc
  .record({
    firstOffset: fc.integer({ min: 1, max: 2 ** 40 }),
    previousHash: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => hex(bytes)),
    steps: fc.array(fc.tuple(fc.integer({ min: 1, max: 2 ** 30 }), fc.uint8Array()), {
      minLength: 1,
      maxLength: 10,
    }),
  })
  .map(({ firstOffset, previousHash, steps }) => {
    let recordTime = 0
    return {
      firstOffset,
      previousHash,
      entries: steps.map(([step, bytes]) => {
        recordTime += step
        return { recordTime, bytes }
      }),
    }
  })

describe('a group', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(groups, (group) => {
        const bytes = encodeGroup(group)
        const { firstOffset } = group
        const entries = group.entries.map((one, index) => ({ ...one, offset: firstOffset + index }))
        const lastOffset = firstOffset + entries.length - 1
        expect(decodeGroup(bytes)).toEqual({ ...group, lastOffset, entries })
        const entryBytes = group.entries.reduce((sum, entry) => sum + entry.bytes.byteLength, 0)
        expect(bytes.byteLength).toBe(groupBytesOf(entryBytes, group.entries.length))
      }),
    )
  })

  it('has the layout of the file header', () => {
    const bytes = encodeGroup({
      firstOffset: 258,
      previousHash: 'cd'.repeat(32),
      entries: [{ recordTime: 3, bytes: Uint8Array.of(9) }],
    })
    expect(hex(bytes)).toBe(
      `0000000000000102${'0000000000000001'}${'cd'.repeat(32)}0000000000000003000000000000000109`,
    )
  })

  it('is refused when cut short or continued', () => {
    fc.assert(
      fc.property(groups, fc.nat(), (group, cut) => {
        const bytes = encodeGroup(group)
        expect(() => decodeGroup(bytes.subarray(0, cut % bytes.byteLength))).toThrow('group')
        expect(() => decodeGroup(Uint8Array.of(...bytes, 0))).toThrow('after its last entry')
      }),
    )
  })

  it('is refused when any bit of it or of its signature is another', () => {
    fc.assert(
      fc.property(groups, fc.nat(), fc.nat(7), (group, position, bit) => {
        const { bytes, signature } = sign(group)
        const all = Uint8Array.of(...bytes, ...signature)
        all[position % all.byteLength] = (all[position % all.byteLength] ?? 0) ^ (1 << bit)
        const changed = {
          bytes: all.subarray(0, bytes.byteLength),
          signature: all.subarray(bytes.byteLength),
        }
        expect(() => openGroup(changed, genesis)).toThrow(
          expect.objectContaining({ name: 'LogGroupError' }),
        )
        expect(openGroup({ bytes, signature }, genesis).hash).toMatch(/^[0-9a-f]{64}$/)
      }),
    )
  })

  it('is refused for another genesis and another key', () => {
    const group = sign(oneEntry)
    const faulty = expect.objectContaining({ fault: 'signature' })
    expect(() => openGroup(group, { ...genesis, hash: '00'.repeat(32) })).toThrow(faulty)
    const other = {
      ...genesis,
      ordering: { driver: 'redis' as const, key: createKeyPair().publicKey },
    }
    expect(() => openGroup(group, other)).toThrow(faulty)
  })

  it('is refused when record time does not rise inside it', () => {
    const [entry] = oneEntry.entries
    const bytes = encodeGroup({ ...oneEntry, entries: [entry, entry] as Group['entries'] })
    expect(() => decodeGroup(bytes)).toThrow(expect.objectContaining({ fault: 'time' }))
  })
})

describe('a chain', () => {
  const start = chainStart(genesis)
  it.each<{ fault: string; group: Group }>([
    { fault: 'position', group: { ...oneGroup(), firstOffset: 2 } },
    { fault: 'chain', group: { ...oneGroup(), previousHash: '00'.repeat(32) } },
    {
      fault: 'time',
      group: {
        ...oneGroup(),
        entries: [{ recordTime: genesis.recordTime, bytes: new Uint8Array() }],
      },
    },
  ])('is not extended by a group with a wrong $fault', ({ fault, group }) => {
    expect(() => extendChain(start, sign(group))).toThrow(expect.objectContaining({ fault }))
    expect(extendChain(start, sign(oneGroup())).offset).toBe(1)
  })
})

const oneEntry = oneGroup()

function oneGroup(): Group {
  return {
    firstOffset: 1,
    previousHash: genesis.hash,
    entries: [{ recordTime: genesis.recordTime + 1, bytes: Uint8Array.of(1) }],
  }
}

function sign(group: Group) {
  return signGroup(group, { genesisHash: genesis.hash, keyPair })
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
