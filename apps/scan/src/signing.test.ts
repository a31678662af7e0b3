/** What nodes sign (D-41): read by the verified reader, which counts no vote whose signature does not fit. */
import { utf8 } from '@quorumscan/base'
import {
  createFetchTransport,
  createReceipt,
  type Decided,
  type Lookup,
  type ReadRequest,
  requestOfLookup,
  verifyReceipt,
} from '@quorumscan/consensus'
import { createReader } from '@quorumscan/consensus/reader'
import { send, until } from '@quorumscan/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RunningScan } from './start.ts'
import { type Network, startNetwork } from './testing/network.ts'

let network: Network
let nodes: RunningScan[]
const NAME = 'alice.unverified.ns'

beforeAll(async () => {
  network = await startNetwork(4)
  nodes = await Promise.all(network.genesis.nodes.map((_, index) => network.startNode(index)))
  await Promise.all(nodes.map(isReady))
  await (await network.createWallet('alice')).pay({ name: NAME, description: 'é "quoted"' })
  await until(NAME, async () =>
    (await send(`${nodeAt(0).url}/v0/ans-entries/by-name/${NAME}`)).status === 200
      ? true
      : undefined,
  )
  await until('all addresses', async () => {
    const { scans } = (await send(`${nodeAt(0).url}/v0/scans`)).body
    return scans[0].scans.length === 4 ? true : undefined
  })
})
afterAll(async () => {
  await Promise.all((nodes ?? []).map((node) => node[Symbol.asyncDispose]()))
  await network?.[Symbol.asyncDispose]()
})

const nodeAt = (index: number): RunningScan => nodes[index] as RunningScan

const isReady = (node: RunningScan) =>
  until('a node to be ready', async () =>
    (await send(`${node.url}/readyz`)).status === 200 ? true : undefined,
  )

const startReader = () =>
  createReader({
    genesis: network.genesis,
    genesisHash: network.genesisHash,
    seeds: nodes.map((node) => node.url),
    transport: createFetchTransport(),
    clock: network.clock,
    allowPrivateAddresses: true,
  })

const all = { sign: true, threshold: 'all' } as const

test('every lookup of a batch is signed by itself, absence too, and the receipt verifies', async () => {
  await using reader = startReader()
  const { dso } = network.genesis
  const lookups: Lookup[] = [{ name: NAME }, { name: 'nobody' }, { party: dso }, { name: 'é"\\' }]
  const outcomes = await reader.lookup(lookups, all)
  expect(outcomes.map((outcome) => outcome.kind)).toEqual([
    'verified',
    'verified-absent',
    'verified',
    'verified-absent',
  ])
  for (const [index, outcome] of outcomes.entries()) {
    const request = requestOfLookup(lookups[index] as Lookup)
    const { genesis, genesisHash } = network
    const receipt = createReceipt({ outcome: outcome as Decided, request, genesisHash })
    const verified = await verifyReceipt(receipt, { genesis, request, threshold: 4 })
    expect(verified.signers).toEqual(['sv-1', 'sv-2', 'sv-3', 'sv-4'])
  }
})

const BYTES_MAX = 65_536

const get = (
  operation: string,
  path: string,
  parameters: ReadRequest['parameters'] = {},
): ReadRequest => ({ operation, parameters, method: 'GET', path, body: null, bytesMax: BYTES_MAX })

test('every other answer is signed with all its parameters, defaults included', async () => {
  await using reader = startReader()
  const { dso } = network.genesis
  const party = encodeURIComponent(dso)
  const first = { name_prefix: '', page_size: 2, page_token: null }
  const firstRequest = get('listEntries', '/v0/ans-entries?page_size=2', first)
  const firstPage = (await reader.read(firstRequest, all)) as Decided
  const token: string = JSON.parse(new TextDecoder().decode(firstPage.answer)).next_page_token
  const rules = { cached_ans_rules_contract_id: null, cached_ans_rules_domain_id: 'x' }
  const requests: ReadRequest[] = [
    firstRequest,
    {
      ...get('listEntries', `/v0/ans-entries?page_size=2&page_token=${token}`, {
        ...first,
        page_token: token,
      }),
      pin: 'request',
    },
    get('listEntriesByParty', `/v0/ans-entries/by-party/${party}/all?page_size=9`, {
      party: dso,
      page_size: 9,
      page_token: null,
    }),
    get('getDsoPartyId', '/v0/dso-party-id'),
    get('getDso', '/v0/dso?shared=true', { shared: true }),
    get('listScans', '/v0/scans'),
    {
      operation: 'getAnsRules',
      parameters: rules,
      method: 'POST',
      path: '/v0/ans-rules',
      body: new Uint8Array(utf8(JSON.stringify({ cached_ans_rules_domain_id: 'x' }))),
      bytesMax: BYTES_MAX,
    },
    {
      operation: 'listActivities',
      parameters: { page_size: 5, begin_after_id: null, sort_order: 'asc' },
      method: 'POST',
      path: '/v0/activities',
      body: new Uint8Array(utf8('{"page_size":5,"begin_after_id":""}')),
      bytesMax: BYTES_MAX,
    },
  ]
  for (const request of requests) {
    const outcome = await reader.read(request, all)
    expect([request.path, outcome.kind]).toEqual([request.path, 'verified'])
    const { genesis, genesisHash } = network
    const receipt = createReceipt({ outcome: outcome as Decided, request, genesisHash })
    await verifyReceipt(receipt, { genesis, request, threshold: 4 })
  }
})

test('a single lookup carries the signature of its batch form, and of its absence', async () => {
  const node = nodeAt(0)
  for (const [name, status] of [
    [NAME, 200],
    ['nobody', 404],
  ] as const) {
    const single = await send(`${node.url}/v0/ans-entries/by-name/${name}`, {
      headers: { 'x-read-sign': 'true' },
    })
    expect(single.status).toBe(status)
    const offset = Number(single.headers.get('x-ledger-offset'))
    const batch = await send(`${node.url}/v0/ans-entries/batch`, {
      method: 'POST',
      body: { lookups: [{ name }], at_offset: offset, sign: true },
    })
    const { signatures } = batch.body
    expect(single.headers.get('x-ledger-signature')).toBe(signatures[0])
  }
  const unsigned = await send(`${node.url}/v0/scans`, { headers: { 'x-read-sign': 'false' } })
  expect(unsigned.headers.get('x-ledger-signature')).toBeNull()
})
