/** What nodes sign (D-41): read by the verified reader, which counts no vote whose signature does not fit. */
import { utf8 } from '@quorumscan/base'
import {
  createFetchTransport,
  createReceipt,
  type Decided,
  type ReadRequest,
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

const BYTES_MAX = 65_536

test('activities are signed with all their parameters, defaults included', async () => {
  await using reader = startReader()
  const request: ReadRequest = {
    operation: 'listActivities',
    parameters: { page_size: 5, begin_after_id: null, sort_order: 'asc' },
    method: 'POST',
    path: '/v0/activities',
    body: new Uint8Array(utf8('{"page_size":5,"begin_after_id":""}')),
    bytesMax: BYTES_MAX,
  }
  const outcome = await reader.read(request, { sign: true, threshold: 'all' })
  expect(outcome.kind).toBe('verified')
  const { genesis, genesisHash } = network
  const receipt = createReceipt({ outcome: outcome as Decided, request, genesisHash })
  const verified = await verifyReceipt(receipt, { genesis, request, threshold: 4 })
  expect(verified.signers).toEqual(['sv-1', 'sv-2', 'sv-3', 'sv-4'])
})

test('nothing else is signed', async () => {
  const { url } = nodeAt(0)
  for (const path of [`ans-entries/by-name/${NAME}`, 'ans-entries?page_size=2', 'scans']) {
    const { headers } = await send(`${url}/v0/${path}`, { headers: { 'x-read-sign': 'true' } })
    expect(headers.get('x-ledger-signature'), path).toBeNull()
  }
})
