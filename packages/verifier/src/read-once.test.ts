/**
 * The verifier reads each member of the caller's objects once, so that its result has only checked values: in the
 * objects of these tests, each member is the truth at its first read, and a lie from then on.
 */

import { expect, it } from 'vitest'
import {
  encodeCertificate,
  type MemberSignature,
  verifySignatures,
} from './certificates/certificate.ts'
import { activitiesQuery } from './certified/activities.ts'
import { createCertifiedVerifier, encodeDocument } from './certified/document.ts'
import { leavesOfDocument } from './certified/document-leaves.ts'
import { entriesQuery, partyEntriesQuery } from './certified/lists.ts'
import type { RangeQuery, StateQuery } from './certified/query.ts'
import { queryOf } from './certified/query-of-request.ts'
import * as history from './certified/testing/activity-forger.ts'
import { createTestNetwork } from './certified/testing/network.ts'
import { createWorld, proofOf } from './certified/testing/world.ts'
import { toHex } from './encoding/bytes.ts'
import { membersOf } from './encoding/members-of.ts'
import { verifyEvidence } from './statements/evidence.ts'
import { encodeStateStatement, type StatePoint } from './statements/statements.ts'

const network = createTestNetwork(4)
const ALICE = 'alice'
const { leaves, point } = createWorld(
  network,
  [1, 2, 3].map((each) => ({ name: `${ALICE}-${each}`, user: ALICE, expiresAt: 200 })),
  { offset: 7, recordTime: 100 },
)
const certificate = network.certificateOf(point, [0, 1, 2])

function documentOf(stateQuery: StateQuery<unknown>): string {
  const proof = proofOf(leaves, stateQuery as RangeQuery<unknown>, point.recordTime)
  return encodeDocument(encodeCertificate(certificate), JSON.stringify(proof))
}

/** Objects in members are turned as well; members that `lie` lacks stay the truth. */
function turning<Whole extends object>(truth: Whole, lie: object): Whole {
  const whole: object = Array.isArray(truth) ? [] : {}
  for (const [member, value] of Object.entries(truth)) {
    const other: unknown = Reflect.get(lie, member) ?? value
    const isObject = typeof value === 'object' && value !== null
    const first = isObject ? turning(value, membersOf(other)) : value
    let isRead = false
    const get = (): unknown => {
      const read = isRead ? other : first
      isRead = true
      return read
    }
    Object.defineProperty(whole, member, { get, enumerable: true })
  }
  return whole as Whole
}

it('a test object returns the truth at the first read, then a lie', () => {
  const object = turning({ one: 1, list: [{ two: 2 }] }, { one: 10, list: [{ two: 20 }] })
  expect([object.one, object.one]).toEqual([1, 10])
  const { list } = object
  const [item] = list
  expect([item?.two, item?.two, list[0]?.two]).toEqual([2, 20, 20])
  expect(object.list).toEqual([{ two: 20 }])
})

const PAGE = { pageSize: 1, pageToken: null }
const ALL = { pageSize: 1000, pageToken: null }

it.each<[string, StateQuery<unknown>, StateQuery<unknown>]>([
  [
    'a prefix list',
    entriesQuery(ALICE, PAGE, network),
    entriesQuery(ALICE, turning(PAGE, ALL), network),
  ],
  [
    'the names of a party',
    partyEntriesQuery(ALICE, PAGE, network),
    partyEntriesQuery(ALICE, turning(PAGE, ALL), network),
  ],
  ...[
    { operation: 'getEntryByName', parameters: { name: `${ALICE}-1` } },
    { operation: 'getEntryByParty', parameters: { party: ALICE } },
    { operation: 'lookupEntries', parameters: { lookups: [{ name: 'eve' }, { party: ALICE }] } },
    {
      operation: 'listEntries',
      parameters: { name_prefix: ALICE, page_size: 1, page_token: null },
    },
  ].map((request): [string, StateQuery<unknown>, StateQuery<unknown>] => {
    const lie = {
      operation: 'listEntriesByParty',
      parameters: {
        name: 'eve',
        party: 'eve',
        name_prefix: 'eve',
        page_size: 1000,
        lookups: [{ name: `${ALICE}-2` }, { party: 'eve' }],
      },
    }
    return [request.operation, queryOf(request, network), queryOf(turning(request, lie), network)]
  }),
])('the request of %s is read once', async (_, asked, turned) => {
  const verifier = createCertifiedVerifier(network)
  const document = documentOf(asked)
  const proven = await verifier.verify(document, asked, 'weak')
  expect(await verifier.verify(document, turned, 'weak')).toEqual(proven)
})

it('the requested page of activities is read once', async () => {
  const page = history.page(2, '0000000000000950:0000')
  const lie = history.page(9, '0000000000000000:0000')
  const requestOf = ({ pageSize, after, order }: typeof page) => ({
    operation: 'listActivities',
    parameters: { page_size: pageSize, begin_after_id: after, sort_order: order },
  })
  const document = history.documentOf(history.truth, history.honestRun(history.truth.rows, page))
  const verifier = createCertifiedVerifier(history.network)
  const verify = (asked: StateQuery<unknown>) => verifier.verify(document, asked, 'weak')
  const proven = await verify(activitiesQuery(page, history.network))
  expect(await verify(activitiesQuery(turning(page, lie), history.network))).toEqual(proven)
  const request = turning(requestOf(page), requestOf(lie))
  expect(await verify(queryOf(request, history.network))).toEqual(proven)
})

it('bytes of a document are not read again after the check', async () => {
  const stateQuery = queryOf(
    { operation: 'getEntryByName', parameters: { name: `${ALICE}-1` } },
    network,
  )
  const bytes = new TextEncoder().encode(documentOf(stateQuery))
  const verifiers = {
    verify: (given: Uint8Array) =>
      createCertifiedVerifier(network).verify(given, stateQuery, 'strong'),
    show: (given: Uint8Array) => leavesOfDocument(given, 'strong', network),
  }
  for (const [name, read] of Object.entries(verifiers)) {
    const given = bytes.slice()
    const reading = read(given)
    given.fill(0)
    expect(await reading, name).toEqual(await read(bytes))
  }
})

it('the genesis hash of a certificate is read once', async () => {
  const other = 'ef'.repeat(32)
  const signatures = certificate.signatures.map(
    ([name], index): MemberSignature => [name, network.signatureOf(index, point, other)],
  )
  const turned = turning({ ...certificate, signatures }, { genesisHash: other })
  await expect(verifySignatures(turned, network)).rejects.toMatchObject({ code: 'BAD_SIGNATURE' })
})

it('evidence is verified by the keys of the genesis that was hashed', async () => {
  const signed = (of: StatePoint) => ({
    statement: toHex(encodeStateStatement({ ...of, genesisHash: network.genesisHash })),
    signature: network.signatureOf(0, of),
  })
  const statements = [signed(point), signed({ ...point, stateRoot: 'ab'.repeat(32) })] as const
  const evidence = { signer: 'sv-1', statements }
  const { genesis } = network
  const proven = await verifyEvidence(evidence, { genesis })
  expect(proven).toEqual({ signer: 'sv-1', kind: 'state', offset: point.offset })
  const lie = { signer: 'sv-2', statements: [{ statement: '00', signature: '00' }] }
  expect(await verifyEvidence(turning(evidence, lie), { genesis })).toEqual(proven)

  const stranger = genesis.nodes[3]
  const framed = { ...evidence, signer: 'sv-4' }
  const forged = { nodes: genesis.nodes.map((node) => ({ ...node, scanKey: node.scanKey })) }
  forged.nodes[3] = { ...genesis.nodes[0], name: stranger?.name } as (typeof forged.nodes)[number]
  await expect(verifyEvidence(framed, { genesis: turning(genesis, forged) })).rejects.toMatchObject(
    { name: 'EvidenceError' },
  )
})
