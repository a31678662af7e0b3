/**
 * The reader of Splice networks on our own scan nodes, at the paths of upstream and without our headers: it needs only
 * the bodies.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createSpliceScan } from '@quorumscan/sdk/splice'
import type { RunningCluster } from 'quorumscan/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createUser, untilFound } from '../../e2e/client.ts'
import { startCluster } from '../../support/clusters.ts'

const ALICE = 'alice.unverified.ns'
let cluster: RunningCluster
let party: string
const servers: Server[] = []
let scans: { svName: string; publicUrl: string }[]

/** A proxy that forwards only method, path, content type and body, in both directions. */
async function startBareProxy(target: string): Promise<string> {
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const { method = 'GET', url = '' } = request
    const hasBody = method === 'POST'
    const reply = await fetch(target + url, {
      method,
      ...(hasBody && {
        body: Buffer.concat(pieces),
        headers: { 'content-type': 'application/json' },
      }),
    })
    response.writeHead(reply.status, { 'content-type': 'application/json' })
    response.end(await reply.text())
  })
  servers.push(server)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

beforeAll(async () => {
  cluster = await startCluster({ nodes: 4 })
  const alice = await createUser(cluster, 'alice')
  await alice.pay(ALICE)
  await untilFound(cluster, ALICE)
  party = alice.party
  const nodes = Object.entries(cluster.urls.nodes)
  scans = await Promise.all(
    nodes.map(async ([svName, url]) => ({ svName, publicUrl: await startBareProxy(url) })),
  )
})
afterAll(async () => {
  for (const server of servers) server.close()
  await cluster?.down()
})

it('agrees on names and network data of all nodes', async () => {
  await using scan = createSpliceScan({ scans, threshold: 3 })
  expect(await scan.names.resolve(ALICE)).toBe(party)
  expect(await scan.names.reverse(party)).toMatchObject({ name: ALICE })
  expect(await scan.names.resolve('missing.unverified.ns')).toBeNull()
  expect(await scan.names.lookup('dso.ns')).toMatchObject({
    kind: 'agreed',
    value: { expiresAt: null, contractId: null },
  })
  const found: string[] = []
  for await (const { name } of scan.names.search('', { pageSize: 2 })) found.push(name)
  expect(found).toEqual([ALICE, 'dso.ns', 'sv-1.sv.ns', 'sv-2.sv.ns', 'sv-3.sv.ns', 'sv-4.sv.ns'])
  expect(await scan.dso()).toMatchObject({ kind: 'agreed', value: { initialRound: '0' } })
  expect(await scan.scans()).toMatchObject({ kind: 'agreed' })
  expect(await scan.ansRules()).toMatchObject({ kind: 'agreed' })
  expect(await scan.rounds()).toMatchObject({ kind: 'agreed', value: { issuing: [] } })
  for await (const row of scan.activities({ order: 'desc' })) {
    expect(row).not.toHaveProperty('offset')
    expect(row.eventId).not.toBe('')
  }
  expect(scan.status()).toMatchObject({ nodeCount: 4 })
})

it('learns all scans from one seed', async () => {
  await using scan = createSpliceScan({ seeds: [cluster.urls.nodes['sv-1'] as string] })
  expect(await scan.names.resolve(ALICE)).toBe(party)
  expect(scan.status()?.svNames).toHaveLength(4)
})
