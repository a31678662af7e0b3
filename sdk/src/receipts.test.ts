/** Receipts: what they prove under which genesis pin, and the errors of invalid ones. */

import { createSignedState, createTestNetwork, simEntry } from '@quorumscan/testkit'
import { createPlatformCrypto, requestOfLookup } from '@quorumscan/verifier'
import { nameQuery, partyQuery, sha256 } from '@quorumscan/verifier/certified'
import { describe, expect, it } from 'vitest'
import { type VerifyReceiptOptions, verifyReceipt } from './receipts.ts'

const ALICE = 'alice.unverified.ns'
const PARTY = `alice::1220${'a'.repeat(64)}`
const testNetwork = createTestNetwork()
const { genesis, genesisHash } = testNetwork
/** The hash, and the document, of another network. */
const OTHER_HASH = 'ab'.repeat(32)
const otherDocument = { ...genesis, nonce: 'cd'.repeat(32) }
const AT = { offset: 7, recordTime: 1_763_719_200_123_456 }
const state = createSignedState(testNetwork, {
  ...AT,
  entries: [simEntry(ALICE, { user: PARTY, expiresAt: 4_000_000_000_000_000 })],
})
const document = state.document(nameQuery(ALICE))
const receipt = { request: { operation: 'getEntryByName', parameters: { name: ALICE } }, document }
const verify = (options: Partial<VerifyReceiptOptions>, given: unknown = receipt) =>
  verifyReceipt(given, { genesis: genesisHash, documents: [genesis], name: ALICE, ...options })

describe('a receipt', () => {
  it('proves an entry or its absence to programs that have pinned the hash', async () => {
    expect(await verify({})).toEqual({
      entry: {
        name: ALICE,
        party: PARTY,
        url: expect.any(String),
        description: expect.any(String),
        expiresAt: expect.stringMatching(/Z$/),
        contractId: expect.any(String),
      },
      offset: 7,
      recordTime: '2025-11-21T10:00:00.123456Z',
      historyHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      signers: genesis.nodes.map(({ name }) => name),
      trust: null,
      genesisHash,
    })
    const absent = state.document(nameQuery('absent.unverified.ns'))
    expect(await verify({ name: 'Absent' }, absent)).toMatchObject({ entry: null })
    const byParty = state.document(partyQuery(PARTY, { genesis, genesisHash, sha256 }))
    const asked = { genesis: genesisHash, documents: [genesis], party: PARTY }
    expect(await verifyReceipt(byParty, asked)).toMatchObject({ entry: { name: ALICE } })
  })

  it.each<[string, Partial<VerifyReceiptOptions>]>([
    ['the document is part of the program', { genesis, documents: [] }],
    ['an older network is accepted, too', { genesis: [OTHER_HASH, genesisHash] }],
    ['a document and a hash are pinned', { genesis: [otherDocument, genesisHash] }],
  ])('is valid if %s', async (_, options) => {
    expect(await verify(options)).toMatchObject({ entry: { party: PARTY }, genesisHash })
  })
})

it('of another name is refused with that name', async () => {
  const receipt = { request: requestOfLookup({ name: ALICE }), document }
  await expect(verify({ name: 'bob' }, receipt)).rejects.toMatchObject({
    code: 'INVALID_RECEIPT',
    details: { reason: 'NOT_PROVEN' },
    message: `The receipt does not prove the entry: it is of ${ALICE}.`,
  })
})

it('is not verified by keys that a genesis object gets after it was hashed', async () => {
  const liar = createTestNetwork({ network: 1 })
  const forged = createSignedState({ ...liar, genesisHash }, { ...AT, entries: [] })
  const platform = createPlatformCrypto()
  let isHashed = false
  const turning = {
    ...genesis,
    get nodes() {
      return isHashed ? liar.genesis.nodes : genesis.nodes
    },
  }
  const crypto = {
    ...platform,
    sha256(bytes: Uint8Array<ArrayBuffer>) {
      isHashed = true
      return platform.sha256(bytes)
    },
  }
  for (const pins of [{ documents: [turning] }, { genesis: turning, documents: [] }]) {
    isHashed = false
    const believed = verify({ ...pins, crypto }, forged.document(nameQuery(ALICE)))
    await expect(believed).rejects.toMatchObject({ details: { reason: 'BAD_SIGNATURE' } })
    expect(isHashed).toBe(true)
  }
})

it('is read once, and so are the options', async () => {
  /** Each member is the truth when it is read first, and a lie from then on. */
  const turning = <Whole extends object>(
    truth: Whole,
    lie: Record<keyof Whole, unknown>,
  ): Whole => {
    const whole = {}
    for (const member of Object.keys(truth) as (keyof Whole)[]) {
      const values = [truth[member], lie[member]]
      const get = () => (values.length > 1 ? values.shift() : values[0])
      Object.defineProperty(whole, member, { get, enumerable: true })
    }
    return whole as Whole
  }
  const told = await verifyReceipt(
    turning(receipt, {
      request: null,
      document: state.document(nameQuery('mallory.unverified.ns')),
    }),
    turning(
      { genesis: genesisHash, documents: [genesis], name: ALICE, threshold: 'all' as const },
      { genesis: OTHER_HASH, documents: [otherDocument], name: 'mallory', threshold: 0 },
    ),
  )
  expect(told).toEqual(await verify({}))
})

it.each<[string, Partial<VerifyReceiptOptions>, RegExp]>([
  ['another hash is pinned', { genesis: OTHER_HASH }, /has the hash [0-9a-f]{64}, which is not/],
  ['a document is of no pinned network', { documents: [genesis, otherDocument] }, /not pinned/],
  ['only another document is there', { genesis: otherDocument, documents: [] }, /not pinned/],
  ['there is no document', { documents: [] }, /No genesis document/],
])('WRONG_GENESIS if %s', async (_, options, why) => {
  await expect(verify(options)).rejects.toMatchObject({
    name: 'QuorumscanError',
    code: 'WRONG_GENESIS',
    definite: true,
    retryable: false,
    message: expect.stringMatching(why),
  })
})

it.each<[string, Partial<VerifyReceiptOptions>, unknown, string]>([
  ['it is of another name', { name: 'bob' }, document, 'NOT_PROVEN'],
  [
    'too few signed',
    { threshold: 3 },
    state.document(nameQuery(ALICE), state.certificate(0, 1)),
    'TOO_FEW_SIGNERS',
  ],
  ['a signature is false', {}, document.replace(/[0-9a-f]{128}/, 'ab'.repeat(64)), 'BAD_SIGNATURE'],
  ['it is no document', {}, '{}', 'MALFORMED'],
  ['it is nothing', {}, null, 'MALFORMED'],
])('INVALID_RECEIPT if %s', async (_, options, given, reason) => {
  const pinned = given === '{}' ? { genesis, documents: [] } : {}
  await expect(verify({ ...pinned, ...options }, given)).rejects.toMatchObject({
    name: 'QuorumscanError',
    code: 'INVALID_RECEIPT',
    definite: true,
    retryable: false,
    details: { reason },
  })
})

it.each<[string, object | undefined]>([
  ['nothing is asked for', { name: undefined }],
  ['name and party are asked for', { party: PARTY }],
  ['a name is a number', { name: 7 }],
  ['nothing is pinned', { genesis: undefined }],
  ['an empty list is pinned', { genesis: [] }],
  ['a hash is too short', { genesis: 'ab' }],
  ['a document is invalid', { documents: [{ nodes: [] }] }],
  ['documents are no list', { documents: genesis }],
  ['the threshold is invalid', { threshold: 'most' }],
  ['the threshold is too small', { threshold: 1 }],
  ['there are no options', undefined],
])('INVALID_ARGUMENT if %s', async (_, options) => {
  const wrong =
    options === undefined
      ? verifyReceipt(receipt, undefined as never)
      : verify(options as Partial<VerifyReceiptOptions>)
  await expect(wrong).rejects.toMatchObject({ name: 'QuorumscanError', code: 'INVALID_ARGUMENT' })
})
