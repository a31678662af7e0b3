import { createKeyPair, fromUtf8, sha256Hex, utf8 } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { CheckedEntry } from '@quorumscan/log'
import { createManualClock } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { encodeBundle, signBundle } from './bundles.ts'
import { nodeIdOf } from './engine-files.ts'
import { createMempoolPolicy } from './mempool-policy.ts'

const GENESIS = 'ab'.repeat(32)
const START = 1_700_000_000_000_000
const NOT_AFTER = START + 60_000_000

/** Entries are texts: their first word is the key that signs them. "junk" is not a valid entry. */
function setUp(limits: Readonly<Record<string, number>> = {}) {
  const ordered = new Set<string>()
  const paid: Record<string, number> = {}
  let recordTime = START
  const verified: string[] = []
  let isFull = false
  const withoutSignature = (bytes: Uint8Array): CheckedEntry => {
    const text = fromUtf8(bytes) ?? ''
    const [participant = ''] = text.split(' ')
    const refusal = { code: 'INVALID_ARGUMENT', message: 'malformed' } as const
    if (participant === 'junk') return { kind: 'refused', refusal }
    const price = { bytesUnits: 2, contractsUnits: 1, contractCounts: new Map(), oversize: null }
    const adds = !text.includes('archive')
    const notAfter = text.includes('expired') ? START : NOT_AFTER
    return { kind: 'entry', entryHash: sha256Hex(bytes), participant, notAfter, adds, ...price }
  }
  const checkEntry = (bytes: Uint8Array): CheckedEntry => {
    verified.push(fromUtf8(bytes))
    const refusal = { code: 'INVALID_ARGUMENT', message: 'bad signature' } as const
    return fromUtf8(bytes).startsWith('forged')
      ? { kind: 'refused', refusal }
      : withoutSignature(bytes)
  }
  const sender = createKeyPair()
  const senderPaid: (number | string)[] = []
  const policy = createMempoolPolicy({
    checkEntry: Object.assign(checkEntry, { withoutSignature }),
    genesisHash: GENESIS,
    ownId: 'own',
    isPeer: (nodeId) => nodeId === nodeIdOf(sender.publicKey),
    chargeSender(nodeId, units) {
      const all = senderPaid.reduce<number>((sum, paid) => sum + Number(paid), 0)
      if (all >= (limits['sender'] ?? 1000)) throw new ScanError('RATE_LIMITED', 'in debt')
      if (units > 0) senderPaid.push(units)
      if (nodeId === null && units > 0) paid['unknown'] = (paid['unknown'] ?? 0) + units
    },
    isOrdered: (hash) => ordered.has(hash),
    recordTime: () => recordTime,
    charge(key, units) {
      if ((paid[key] ?? 0) + units > (limits[key] ?? 1000))
        throw new ScanError('RATE_LIMITED', 'too many')
      paid[key] = (paid[key] ?? 0) + units
    },
    assertRoom({ adds }) {
      if (isFull && adds) throw new ScanError('LOG_FULL', 'no room')
    },
    clock: createManualClock(START),
  })
  const bundle = (...texts: string[]) => encodeBundle(texts.map(utf8))
  const signed = (notAfter: number, ...texts: string[]) =>
    signBundle(texts.map(utf8), { notAfter, genesisHash: GENESIS, key: sender })
  return {
    policy,
    ordered,
    paid,
    bundle,
    signed,
    verified,
    senderPaid,
    proposed: (...bundles: Uint8Array[]) => policy.entriesOf(bundles).map(fromUtf8),
    fill(full: boolean) {
      isFull = full
    },
    endTime() {
      recordTime = NOT_AFTER
    },
  }
}

describe('an entry', () => {
  it('charges the rate budget of its key once, however often it arrives', () => {
    const { policy, paid, bundle } = setUp()
    expect(policy.admit(utf8('alice 1'))).toBeNull()
    expect(policy.check(bundle('alice 1', 'bob 1'))).toBeNull()
    expect(policy.check(bundle('alice 1'))).toBeNull()
    expect(paid).toMatchObject({ alice: 3, bob: 3 })
  })

  it('above its rate limit is not proposed, but others in its bundle are', () => {
    const { policy, bundle, proposed } = setUp({ mallory: 3 })
    expect(policy.check(bundle('mallory 1'))).toBeNull()
    const mixed = bundle('mallory 2', 'alice 1')
    expect(policy.check(mixed)).toBeNull()
    expect(proposed(mixed)).toEqual(['alice 1'])
    expect(policy.check(bundle('mallory 3'))).toMatchObject({ code: 'RATE_LIMITED' })
  })

  it('is proposed once, even if several bundles contain it', () => {
    const { bundle, proposed } = setUp()
    expect(proposed(bundle('alice 1', 'alice 2'), bundle('alice 2', 'alice 3'))).toEqual([
      'alice 1',
      'alice 2',
      'alice 3',
    ])
  })
})

describe('a bundle', () => {
  it('stays in the mempool until all of its entries are ordered or expired', () => {
    const { policy, ordered, bundle, endTime } = setUp({ mallory: 0 })
    const waiting = bundle('alice 1', 'bob 1', 'mallory 1')
    expect(policy.check(waiting)).toBeNull()
    ordered.add(sha256Hex(utf8('alice 1')))
    expect(policy.check(waiting, { isRecheck: true })).toBeNull()
    ordered.add(sha256Hex(utf8('bob 1')))
    expect(policy.check(waiting, { isRecheck: true })).not.toBeNull()
    expect(policy.check(bundle('alice 2'))).toBeNull()
    endTime()
    expect(policy.check(bundle('alice 2'), { isRecheck: true })).not.toBeNull()
  })

  it('with malformed or forged entries is refused, and charges no key', () => {
    const { policy, paid, bundle, proposed } = setUp()
    expect(policy.check(utf8('no bundle'))).toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(policy.check(bundle('alice 1', 'junk'))).toMatchObject({
      message: 'malformed',
    })
    expect(policy.check(bundle('alice 1', 'forged 1'))).toMatchObject({
      message: 'bad signature',
    })
    expect(paid['alice']).toBeUndefined()
    expect(proposed(utf8('no bundle'), bundle('junk', 'alice 1'))).toEqual(['alice 1'])
  })

  it('with an entry that is in the log is refused with that reason', () => {
    const { policy, ordered, bundle } = setUp()
    ordered.add(sha256Hex(utf8('alice 1')))
    expect(policy.check(bundle('alice 1'))?.message).toContain('in the log already')
  })

  it('without a signature is accepted: members of older releases send it', () => {
    const { policy, bundle, paid } = setUp()
    expect(policy.check(bundle('alice 1'))).toBeNull()
    expect(paid).toMatchObject({ unknown: 1 })
  })
})

describe('a bundle that costs its receivers more than its sender', () => {
  it('with only expired or ordered entries is refused before any signature is verified', () => {
    const { policy, ordered, signed, verified, senderPaid } = setUp()
    expect(policy.check(signed(START, 'alice 1'))).toMatchObject({
      code: 'SUBMISSION_EXPIRED',
    })
    ordered.add(sha256Hex(utf8('alice 2')))
    expect(policy.check(signed(NOT_AFTER, 'alice 2'))?.message).toContain('in the log')
    expect(senderPaid).toEqual([])
    expect(policy.check(signed(NOT_AFTER, 'bob expired'))).toMatchObject({
      code: 'SUBMISSION_EXPIRED',
    })
    expect(verified).toEqual([])
  })

  it('is refused at the first bad signature of an entry', () => {
    const { policy, signed, verified } = setUp()
    expect(policy.check(signed(NOT_AFTER, 'forged 1', 'forged 2'))).not.toBeNull()
    expect(verified).toEqual(['forged 1'])
  })

  it('has no entry verified if its sender is above its rate, or did not sign it', () => {
    const { policy, signed, verified, senderPaid } = setUp({ sender: 2 })
    const forged = signed(NOT_AFTER, 'alice 1')
    forged[40] = (forged[40] ?? 0) ^ 1
    expect(policy.check(forged)?.message).toContain('did not sign')
    expect(senderPaid).toEqual([])
    expect(policy.check(signed(NOT_AFTER, 'alice 1', 'alice 2'))).toBeNull()
    verified.length = 0
    expect(policy.check(signed(NOT_AFTER, 'alice 3'))).toMatchObject({
      code: 'RATE_LIMITED',
    })
    expect(verified).toEqual([])
  })

  it('charges its sender’s rate budget once, however often it is sent', () => {
    const { policy, signed, senderPaid } = setUp({ alice: 0 })
    const rateLimited = signed(NOT_AFTER, 'alice 1')
    for (let time = 0; time < 3; time++) expect(policy.check(rateLimited)).not.toBeNull()
    expect(senderPaid).toEqual([1])
  })
})

describe('a full member', () => {
  it('proposes entries that free space, and others again when it has room', () => {
    const { policy, bundle, proposed, fill } = setUp()
    fill(true)
    const adding = bundle('alice adds')
    const freeing = bundle('alice archives')
    expect(policy.check(adding)).toMatchObject({ code: 'LOG_FULL' })
    expect(policy.check(freeing)).toBeNull()
    // Another member may have put both into the mempool.
    expect(proposed(adding, freeing)).toEqual(['alice archives'])
    fill(false)
    expect(policy.check(adding)).toBeNull()
    expect(proposed(adding, freeing)).toEqual(['alice adds', 'alice archives'])
  })
})
