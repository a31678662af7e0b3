/**
 * The reader of Splice networks on our own scan nodes, at the paths of upstream and without our headers: it needs only
 * the bodies.
 */
import { createSpliceScan } from '@quorumscan/sdk/splice'
import { serve, type TestServer } from '@quorumscan/testkit'
import { expect } from 'vitest'
import { ALICE, it } from '../network.ts'

/** A proxy that forwards only method, path, content type and body, in both directions. */
const startBareProxy = (target: string): Promise<TestServer> =>
  serve(async (request, response) => {
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

export function describeSpliceSdk(): void {
  it('agrees on names and network data of all nodes', async ({ cluster, alice, resources }) => {
    const scans = await Promise.all(
      Object.entries(cluster.urls.nodes).map(async ([svName, url]) => {
        const { url: publicUrl } = resources.opened(await startBareProxy(url))
        return { svName, publicUrl }
      }),
    )
    await using scan = createSpliceScan({ scans, threshold: 3 })
    expect(await scan.names.resolve(ALICE)).toBe(alice.party)
    expect(await scan.names.reverse(alice.party)).toMatchObject({ name: ALICE })
    expect(await scan.names.resolve('missing.unverified.ns')).toBeNull()
    expect(await scan.names.lookup('dso.ns')).toMatchObject({
      kind: 'proven',
      value: { expiresAt: null, contractId: null },
    })
    const found: string[] = []
    for await (const { name } of scan.names.search('sv-', { pageSize: 2 })) found.push(name)
    expect(found).toEqual(['sv-1.sv.ns', 'sv-2.sv.ns', 'sv-3.sv.ns', 'sv-4.sv.ns'])
    expect(await scan.dso()).toMatchObject({ kind: 'proven', value: { initialRound: '0' } })
    expect(await scan.scans()).toMatchObject({ kind: 'proven' })
    expect(await scan.ansRules()).toMatchObject({ kind: 'proven' })
    expect(await scan.rounds()).toMatchObject({ kind: 'proven', value: { issuing: [] } })
    let count = 0
    for await (const row of scan.activities({ order: 'desc', pageSize: 2 })) {
      expect(row).not.toHaveProperty('offset')
      expect(row.eventId).not.toBe('')
      if (++count === 3) break
    }
    expect(count).toBe(3)
    expect(scan.status()).toMatchObject({ nodeCount: 4 })
  })

  it('learns all scans from one seed', async ({ cluster, alice }) => {
    await using scan = createSpliceScan({ seeds: [cluster.urls.nodes['sv-1'] as string] })
    expect(await scan.names.resolve(ALICE)).toBe(alice.party)
    expect(scan.status()?.svNames).toHaveLength(4)
  })
}
