import { fromUtf8, utf8 } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { createManualClock } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import type { JudgedEntry } from '../judge-entry.ts'
import { encodeBundle } from './bundles.ts'
import { createTaking } from './taking.ts'

const START = 1_700_000_000_000_000
const NOT_AFTER = START + 60_000_000

/** Entries are texts: their first word is the key that signs them; "junk" is none. */
function setUp(limits: Readonly<Record<string, number>> = {}) {
  const ordered = new Set<string>()
  const paid: Record<string, number> = {}
  let recordTime = START
  const taking = createTaking({
    judge(bytes): JudgedEntry {
      const text = fromUtf8(bytes) ?? ''
      const [participant = ''] = text.split(' ')
      const refusal = { code: 'INVALID_ARGUMENT', message: 'bad signature' } as const
      if (participant === 'junk') return { kind: 'refused', refusal }
      const price = { bytesPrice: 2, contractsPrice: 1, contractCounts: new Map(), oversize: null }
      return { kind: 'entry', entryHash: text, participant, notAfter: NOT_AFTER, ...price }
    },
    isOrdered: (hash) => ordered.has(hash),
    recordTime: () => recordTime,
    charge(key, units) {
      if ((paid[key] ?? 0) + units > (limits[key] ?? 1000))
        throw new ScanError('RATE_LIMITED', 'too many')
      paid[key] = (paid[key] ?? 0) + units
    },
    assertRoom() {},
    clock: createManualClock(START),
  })
  const bundle = (...texts: string[]) => encodeBundle(texts.map(utf8))
  return {
    ...{ taking, ordered, paid, bundle },
    proposed: (...bundles: Uint8Array[]) => taking.entriesOf(bundles).map(fromUtf8),
    endTime() {
      recordTime = NOT_AFTER
    },
  }
}

describe('an entry', () => {
  it('is paid for once, however often it comes', () => {
    const { taking, paid, bundle } = setUp()
    expect(taking.take(utf8('alice 1'))).toBeNull()
    expect(taking.refuse(bundle('alice 1', 'bob 1'), false)).toBeNull()
    expect(taking.refuse(bundle('alice 1'), false)).toBeNull()
    expect(paid).toEqual({ alice: 3, bob: 3 })
  })

  it('that is over its rate is not proposed, and holds up none beside it', () => {
    const { taking, bundle, proposed } = setUp({ mallory: 3 })
    expect(taking.refuse(bundle('mallory 1'), false)).toBeNull()
    const mixed = bundle('mallory 2', 'alice 1')
    expect(taking.refuse(mixed, false)).toBeNull()
    expect(proposed(mixed)).toEqual(['alice 1'])
    expect(taking.refuse(bundle('mallory 3'), false)).toMatchObject({ code: 'RATE_LIMITED' })
  })

  it('is proposed once, though several bundles hold it', () => {
    const { bundle, proposed } = setUp()
    expect(proposed(bundle('alice 1', 'alice 2'), bundle('alice 2', 'alice 3'))).toEqual([
      'alice 1',
      'alice 2',
      'alice 3',
    ])
  })
})

describe('a bundle', () => {
  it('is kept until all of its entries are ordered or over', () => {
    const { taking, ordered, bundle, endTime } = setUp({ mallory: 0 })
    const waiting = bundle('alice 1', 'bob 1', 'mallory 1')
    expect(taking.refuse(waiting, false)).toBeNull()
    ordered.add('alice 1')
    expect(taking.refuse(waiting, true)).toBeNull()
    ordered.add('bob 1')
    expect(taking.refuse(waiting, true)).not.toBeNull()
    expect(taking.refuse(bundle('alice 2'), false)).toBeNull()
    endTime()
    expect(taking.refuse(bundle('alice 2'), true)).not.toBeNull()
  })

  it('with what no member of good will passes on is refused, and nobody pays', () => {
    const { taking, paid, bundle, proposed } = setUp()
    expect(taking.refuse(utf8('no bundle'), false)).toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(taking.refuse(bundle('alice 1', 'junk'), false)).toMatchObject({
      message: 'bad signature',
    })
    expect(paid).toEqual({})
    expect(proposed(utf8('no bundle'), bundle('junk', 'alice 1'))).toEqual(['alice 1'])
  })

  it('with an entry that is in the log is refused for that', () => {
    const { taking, ordered, bundle } = setUp()
    ordered.add('alice 1')
    expect(taking.refuse(bundle('alice 1'), false)?.message).toContain('in the log already')
  })
})
