import { fromUtf8, utf8 } from '@quorumscan/base'
import { type CheckedEntry, groupBytesOf, isInTime } from '@quorumscan/log'
import { NOT_AFTER_MICROS_MAX } from '@quorumscan/verifier'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { genesisTip, orderBlock } from './blocks.ts'
import { isAcceptable, selectEntries } from './proposals.ts'

const START = 1_700_000_000_000_000
const tip = genesisTip({ hash: 'ab'.repeat(32), recordTime: START })
const limits = { bytesMax: 2000, contractsMax: 20 }

/** Protocol versions: the current one, and one that only newer software knows. */
const [OLD, NEW] = [3, 4]

/** `newContracts`: the number of contracts that the newer version counts. */
type Made = {
  notAfter?: number
  contracts?: number
  newContracts?: number
  isRefused?: boolean
  size?: number
}
let count = 0
const entry = (made: Made = {}) => utf8(JSON.stringify({ ...made, id: ++count }))

/** The check of newer software, which reads the properties from the entry. */
function checkEntry(bytes: Uint8Array): CheckedEntry {
  const made: Made = JSON.parse(fromUtf8(bytes))
  const refusal = { code: 'INVALID_ARGUMENT', message: 'bad signature' } as const
  if (made.isRefused === true) return { kind: 'refused', refusal }
  return {
    kind: 'entry',
    entryHash: fromUtf8(bytes),
    participant: 'alice',
    notAfter: made.notAfter ?? START + 1_000_000,
    bytesUnits: 1,
    contractsUnits: 0,
    contractCounts: new Map([
      [OLD, made.contracts ?? 0],
      [NEW, made.newContracts ?? made.contracts ?? 0],
    ]),
    adds: true,
    oversize: null,
  }
}

/** The check of older software. */
function checkByOld(bytes: Uint8Array): CheckedEntry {
  const checked = checkEntry(bytes)
  if (checked.kind === 'refused') return checked
  return { ...checked, contractCounts: new Map([...checked.contractCounts].slice(0, 1)) }
}

const base = { tip, timeMicros: START + 10, limits, version: OLD, checkEntry }
const select = (
  entries: readonly Uint8Array[],
  changes: Partial<Parameters<typeof selectEntries>[0]> = {},
) => selectEntries({ ...base, entries, wireBytesMax: 10_000, isOrdered: () => false, ...changes })

const someEntries = fc.array(
  fc
    .record(
      {
        notAfter: fc.integer({ min: START + 5, max: START + 20 }),
        contracts: fc.integer({ min: 0, max: 8 }),
        newContracts: fc.integer({ min: 0, max: 8 }),
        isRefused: fc.boolean(),
        padding: fc.string({ maxLength: 300 }),
      },
      { requiredKeys: [] },
    )
    .map(entry),
  { maxLength: 20 },
)

describe('a proposal', () => {
  it('is accepted by all members, whatever their ordered entries and rates', () => {
    fc.assert(
      fc.property(
        someEntries,
        fc.integer({ min: START - 5, max: START + 15 }),
        (offered, timeMicros) => {
          const entries = select(offered, { timeMicros })
          expect(isAcceptable({ ...base, timeMicros, entries })).toBe(true)
        },
      ),
    )
  })

  it('of members with older and newer software is accepted by both while the old rules hold', () => {
    fc.assert(
      fc.property(someEntries, (offered) => {
        const [proposed, proposedByOld] = [
          select(offered),
          select(offered, { checkEntry: checkByOld }),
        ]
        expect(proposed).toEqual(proposedByOld)
        const judges = [checkEntry, checkByOld]
        for (const one of judges)
          expect(isAcceptable({ ...base, checkEntry: one, entries: proposed })).toBe(true)
      }),
    )
  })

  it('is checked by the block version in force', () => {
    const entries = [entry({ contracts: 21, newContracts: 1 })]
    expect(isAcceptable({ ...base, entries })).toBe(false)
    expect(isAcceptable({ ...base, entries, version: NEW })).toBe(true)
    expect(isAcceptable({ ...base, entries: [entry()], version: NEW + 1 })).toBe(false)
    expect(isAcceptable({ ...base, entries: [], version: NEW + 1 })).toBe(true)
  })

  it('that is accepted gives a group within the limits, without expired entries', () => {
    fc.assert(
      fc.property(someEntries, (entries) => {
        fc.pre(isAcceptable({ ...base, entries }))
        const { group } = orderBlock(tip, { height: 1, timeMicros: base.timeMicros, entries })
        expect(group.bytes.byteLength).toBeLessThanOrEqual(limits.bytesMax)
        let contracts = 0
        for (const { bytes, recordTime } of group.entries) {
          if (bytes.byteLength === 0) continue
          const checked = checkEntry(bytes)
          expect(checked.kind === 'entry' && isInTime(checked.notAfter, recordTime)).toBe(true)
          contracts += checked.kind === 'entry' ? (checked.contractCounts.get(OLD) ?? 0) : 0
        }
        expect(contracts).toBeLessThanOrEqual(limits.contractsMax)
      }),
    )
  })

  it.each([
    ['an entry whose signature is bad', [entry({ isRefused: true })]],
    ['an entry that is expired at its own record time', [entry({ notAfter: START + 10 })]],
    ['an entry too far ahead', [entry({ notAfter: START + 11 + NOT_AFTER_MICROS_MAX })]],
    ['one contract too many', [entry({ contracts: 20 }), entry({ contracts: 1 })]],
    ['an entry that expires after another', [entry(), entry({ notAfter: START + 11 })]],
  ])('with %s is refused', (_, entries) => {
    expect(isAcceptable({ ...base, entries })).toBe(false)
  })

  it('is limited by the size of the group that it becomes', () => {
    const one = entry()
    const exact = groupBytesOf(one.byteLength, 1)
    const isAccepted = (bytesMax: number) =>
      isAcceptable({ ...base, entries: [one], limits: { ...limits, bytesMax } })
    expect(isAccepted(exact)).toBe(true)
    expect(isAccepted(exact - 1)).toBe(false)
  })

  it('is empty while block time lags after an outage, and full again afterwards', () => {
    const afterOutage = START + 2 * NOT_AFTER_MICROS_MAX
    const fresh = entry({ notAfter: afterOutage + 60_000_000 })
    expect(select([fresh])).toEqual([])
    expect(select([fresh], { timeMicros: afterOutage })).toEqual([fresh])
  })

  it('contains no ordered entries, and no more bytes than the engine allows', () => {
    const [one, two] = [entry(), entry()]
    const isOrdered = (hash: string) => hash === fromUtf8(one)
    expect(select([one, two], { isOrdered })).toEqual([two])
    expect(select([one, two], { wireBytesMax: one.byteLength + 6 })).toEqual([one])
    expect(select([one, two], { wireBytesMax: one.byteLength + 5 })).toEqual([])
  })
})
