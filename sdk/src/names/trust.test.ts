/** `trust` of `createScan`: only named members count, and only their nodes are asked, whatever the others send. */
import {
  createSignedState,
  createTestNetwork,
  endingBefore,
  scansBody,
  signAddress,
  simEntry,
  untilTrue,
} from '@quorumscan/testkit'
import { type Lookup, membersOf, requestOfLookup } from '@quorumscan/verifier'
import {
  batchQuery,
  CERTIFIED_MEDIA_TYPE,
  type HashedNetwork,
  nameQuery,
  sha256,
} from '@quorumscan/verifier/certified'
import nock from 'nock'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../platform/clock.ts'
import { verifyReceipt } from '../receipts.ts'
import { createScan, type ScanOptions } from '../scan.ts'

/** f is 2: three members sign a certificate. */
const testNetwork = createTestNetwork({ nodeCount: 7 })
const { genesis, genesisHash, scans: keys } = testNetwork
const network: HashedNetwork = { genesis, genesisHash, sha256 }
const names = genesis.nodes.map(({ name }) => name)
const PARTY = `alice::1220${'a'.repeat(64)}`
const THIEF = `thief::1220${'b'.repeat(64)}`
const NAME = 'alice.unverified.ns'
const TRUSTED = ['sv-1', 'sv-2', 'sv-3']
/** Positions of members that no test trusts. */
const STRANGERS = [3, 4, 5, 6]
/** The state stays fresh, however long these tests take. */
const DAY_MS = 86_400_000
const expiresAt = 4_000_000_000_000_000
const at = { offset: 7, recordTime: systemClock.nowMicros() }
const stateOf = (user: string, offset = at.offset) =>
  createSignedState(testNetwork, { ...at, offset, entries: [simEntry(NAME, { user, expiresAt })] })
const truth = stateOf(PARTY)
/** Newer than the truth, so that a reader that believes it never goes back. */
const lie = stateOf(THIEF, 9)
const urlOf = (name: string) => `https://${name}.scan.test`

/** What a node sends if that many signers are asked for; null: it has no such certificate. */
type Node = (signers: number) => { state: typeof truth; signedBy: readonly number[] } | null
/** A node that prefers the signatures of some members, as one that received them first. */
const honest =
  (...known: readonly number[]): Node =>
  (signers) =>
    known.length < signers ? null : { state: truth, signedBy: known.slice(0, signers) }

/** Serves nodes by name. A name that is missing is down. Returns the requests other than for addresses, by node. */
function serve(nodes: Readonly<Record<string, Node>>): string[] {
  const asked: string[] = []
  const addresses = keys.map((key, index) => {
    const name = `sv-${index + 1}`
    return signAddress(key, { genesisHash, name, url: urlOf(name), sequence: 1 })
  })
  for (const name of names) {
    const node = nodes[name]
    const reply = (uri: string, body: nock.Body): nock.ReplyFnResult => {
      const sent = membersOf(typeof body === 'string' && body !== '' ? JSON.parse(body) : body)
      const { lookups, signers = new URL(uri, 'http://node').searchParams.get('signers') } = sent
      asked.push(`${name} ${signers ?? 'weak'}`)
      const found = node?.(Number(signers ?? 3))
      if (!found)
        return [503, { error: 'none', code: 'NO_CERTIFICATE', definite: true, retryable: true }]
      const certificate = found.state.certificate(...found.signedBy)
      if (uri.startsWith('/v0/certificate')) return [200, `{"certificate":${certificate}}`]
      const query = lookups ? batchQuery(lookups as Lookup[], network) : nameQuery(NAME)
      const text = found.state.document(query, certificate)
      return [200, text, { 'content-type': CERTIFIED_MEDIA_TYPE }]
    }
    const scope = nock(urlOf(name)).persist()
    if (node === undefined) {
      scope.get(/.*/).replyWithError('down').post(/.*/).replyWithError('down')
      continue
    }
    scope
      .get('/v0/scans')
      .reply(200, scansBody(addresses))
      .get(/^\/v0\/(?:certificate|ans-entries)/)
      .reply(reply)
      .post('/v0/ans-entries/batch')
      .reply(reply)
  }
  return asked
}

const connect = (
  trust: { members: readonly string[]; threshold?: number },
  seed = 'sv-7',
  times: Pick<ScanOptions, 'timeoutMs' | 'clock'> = { timeoutMs: 60_000 },
) => createScan({ seeds: [urlOf(seed)], genesis, trust, maxAgeMs: DAY_MS, ...times })
const lying: Node = () => ({ state: lie, signedBy: STRANGERS })

beforeAll(() => nock.disableNetConnect())
afterEach(() => {
  nock.abortPendingRequests()
  nock.cleanAll()
})
afterAll(() => nock.enableNetConnect())

describe('a rule of three members', () => {
  it('is named by outcome and receipt, and applied where the receipt is verified', async () => {
    const asked = serve({ 'sv-7': lying, 'sv-1': honest(0, 1, 2, 3) })
    await using scan = connect({ members: ['sv-3', 'sv-1', 'sv-2'] })
    const outcome = await scan.names.lookup('alice')
    const trust = { members: TRUSTED, threshold: 2 }
    expect(outcome).toMatchObject({
      kind: 'proven',
      value: { party: PARTY },
      basis: 'proof',
      trust,
      threshold: 2,
      nodeCount: 3,
      agreed: TRUSTED,
      receipt: { trust },
    })
    const receipt = 'receipt' in outcome ? outcome.receipt : null
    const options = { genesis, name: 'alice' }
    expect(await verifyReceipt(receipt, { ...options, trust })).toMatchObject({
      entry: { party: PARTY },
      signers: TRUSTED,
      trust,
    })
    expect(await verifyReceipt(receipt, options)).toMatchObject({ trust: null })
    await expect(
      verifyReceipt(receipt, { ...options, trust: { members: ['sv-5', 'sv-6'] } }),
    ).rejects.toMatchObject({ code: 'INVALID_RECEIPT', details: { reason: 'TOO_FEW_SIGNERS' } })
    expect(asked.every((request) => request.startsWith('sv-1'))).toBe(true)
  })

  it('asks a node for more signatures where others have signed in their place', async () => {
    const asked = serve({ 'sv-7': lying, 'sv-2': honest(3, 4, 0, 5, 1) })
    await using scan = connect({ members: TRUSTED })
    // Of the first three one is trusted, of the next four one, of five two.
    expect(await scan.names.lookup('alice')).toMatchObject({
      value: { party: PARTY },
      agreed: ['sv-1', 'sv-2'],
    })
    expect(asked).toEqual(['sv-2 weak', 'sv-2 4', 'sv-2 5'])
    expect(scan.status()?.nodes.find(({ name }) => name === 'sv-2')).toMatchObject({ errors: 0 })
  })

  it('blames no member that is polled while others signed before its members', async () => {
    const late = honest(3, 4, 5, 0, 1)
    const asked = serve({ 'sv-7': lying, 'sv-1': honest(0, 1, 2), 'sv-2': late, 'sv-3': late })
    await using scan = connect({ members: TRUSTED })
    for (let count = 0; count < 2; count++) expect(await scan.names.resolve('alice')).toBe(PARTY)
    await untilTrue('a poll', async () => asked.some((request) => /^sv-[23] 5$/.test(request)))
    expect(scan.status()?.nodes.every(({ errors }) => errors === 0)).toBe(true)
  })

  it('asks another of its members if one has too few of these signatures', async () => {
    const asked = serve({ 'sv-7': lying, 'sv-1': honest(0, 4, 5), 'sv-3': honest(1, 2, 3) })
    await using scan = connect({ members: TRUSTED })
    expect(await scan.names.resolve('alice')).toBe(PARTY)
    expect(asked.at(-1)).toBe('sv-3 weak')
  })

  it.each<[string, Record<string, Node>]>([
    ['all strangers signed', { 'sv-1': lying, 'sv-2': lying }],
    [
      'one of its members signed with all strangers',
      {
        'sv-1': () => ({ state: lie, signedBy: [0, ...STRANGERS] }),
      },
    ],
    ['only strangers are alive', {}],
  ])('is not met where %s', async (_, nodes) => {
    const asked = serve({ ...nodes, 'sv-4': lying, 'sv-7': lying })
    const timeoutMs = 500
    const times = endingBefore(timeoutMs, systemClock.nowMicros())
    await using scan = connect({ members: TRUSTED }, 'sv-7', times)
    const outcome = await scan.names.lookup('alice')
    expect(outcome).toMatchObject({
      error: { details: { outcome: { kind: 'insufficient', trust: { members: TRUSTED } } } },
    })
    await expect(scan.names.resolve('alice')).rejects.toMatchObject({
      name: 'QuorumscanError',
    })
    expect(asked.filter((request) => /sv-[4-7]/.test(request))).toEqual([])
  })
})

describe('after the addresses were read again', () => {
  it('asks no other node', async () => {
    const asked = serve({ 'sv-7': lying, 'sv-1': honest(0, 1, 2), 'sv-4': honest(3, 0, 1) })
    let nowMs = 0
    const clock = {
      ...systemClock,
      nowMicros: () => nowMs * 1000 + systemClock.nowMicros(),
      monotonicMs: () => nowMs + systemClock.monotonicMs(),
    }
    const seeds = [urlOf('sv-7')]
    await using scan = createScan({
      seeds,
      genesis,
      clock,
      maxAgeMs: DAY_MS,
      trust: { members: TRUSTED },
    })
    expect(await scan.names.resolve('alice')).toBe(PARTY)
    nowMs += 60_000
    for (let count = 0; count < 5; count++) await scan.names.resolve('alice')
    expect(asked.every((request) => request.startsWith('sv-1'))).toBe(true)
    expect(
      scan
        .status()
        ?.nodes.map(({ name }) => name)
        .filter(Boolean),
    ).toEqual(TRUSTED)
  })
})

describe('a threshold', () => {
  it('of one believes each member, though fewer than f + 1 are trusted', async () => {
    serve({ 'sv-7': lying, 'sv-2': honest(4, 5, 6, 1) })
    await using scan = connect({ members: ['sv-2'] })
    expect(await scan.names.lookup('alice')).toMatchObject({
      kind: 'proven',
      agreed: ['sv-2'],
      threshold: 1,
      nodeCount: 1,
      basis: 'trusted',
    })
  })

  it('of a call is raised within the list', async () => {
    serve({ 'sv-7': lying, 'sv-1': honest(0, 1, 2, 3, 4, 5, 6) })
    await using scan = connect({ members: TRUSTED })
    expect(await scan.names.lookup('alice', { threshold: 'all' })).toMatchObject({
      threshold: 3,
      basis: 'proof',
    })
    expect(await scan.names.lookup('alice', { threshold: 'strong' })).toMatchObject({
      threshold: 3,
    })
    await expect(scan.names.lookup('alice', { threshold: 4 })).rejects.toMatchObject({
      code: 'INVALID_QUORUM',
    })
  })
})

it('an owner that is no party is never returned, though enough members signed it', async () => {
  const state = stateOf('alice')
  serve({ 'sv-7': () => ({ state, signedBy: [0, 1, 2] }) })
  await using scan = createScan({
    seeds: [urlOf('sv-7')],
    genesis,
    maxAgeMs: DAY_MS,
    timeoutMs: 60_000,
  })
  const error = { code: 'INVALID_RESPONSE' }
  await expect(scan.names.resolve('alice')).rejects.toMatchObject(error)
  expect(await scan.names.lookup('alice')).toMatchObject({ kind: 'failed', error })
})

it('a receipt of fewer than f + 1 signers verifies by a rule that it meets', async () => {
  const document = truth.document(nameQuery(NAME), truth.certificate(0, 1))
  const receipt = { request: requestOfLookup({ name: NAME }), document }
  const trust = { members: ['sv-1', 'sv-2'], threshold: 2 }
  expect(await verifyReceipt(receipt, { genesis, name: 'alice', trust })).toMatchObject({ trust })
  await expect(verifyReceipt(receipt, { genesis, name: 'alice' })).rejects.toMatchObject({
    details: { reason: 'TOO_FEW_SIGNERS' },
  })
})

it.each<[string, unknown, string]>([
  ['an unknown member', { members: ['sv-1', 'sv-9'] }, 'sv-9 is not a member'],
  ['a duplicate', { members: ['sv-1', 'sv-1'] }, 'sv-1 twice'],
  ['no member', { members: [] }, 'one at least'],
  ['no list', {}, 'one at least'],
  ['a threshold of 0', { members: TRUSTED, threshold: 0 }, 'from 1 to 3'],
  ['a threshold above the length', { members: TRUSTED, threshold: 4 }, 'from 1 to 3'],
  ['a fraction', { members: TRUSTED, threshold: 1.5 }, 'from 1 to 3'],
])('INVALID_ARGUMENT for %s', async (_, trust, why) => {
  await using scan = connect(trust as never)
  const refused = { code: 'INVALID_ARGUMENT', message: expect.stringContaining(why) }
  await expect(scan.names.resolve('alice')).rejects.toMatchObject(refused)
  const receipt = truth.document(nameQuery(NAME))
  const options = { genesis, name: 'alice', trust: trust as never }
  await expect(verifyReceipt(receipt, options)).rejects.toMatchObject(refused)
})
