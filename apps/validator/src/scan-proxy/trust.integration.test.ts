/** A validator that trusts some members only (D-75): whom it asks, and whose answers it counts. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createHttpClient, freePort, until } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { trustRule } from '@quorumscan/verifier'
import { expect } from 'vitest'
import { startValidator } from '../server.ts'
import { startNetwork } from '../testing/network.ts'

const PATH = '/v0/scan-proxy/ans-entries/by-name/dso.ns'
/** What the clock of a process is compared with, and where a replica begins: not the scan proxy. */
const NOT_OF_THE_PROXY = /^\/(livez|v0\/snapshots)/

const it = base
  .extend('network', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await startNetwork(4)),
  )
  /** Requests that arrive at the address of sv-4, which is not trusted, instead of its node. */
  .extend('asked', { scope: 'file' }, async ({ network, fileResources }) => {
    const asked: string[] = []
    await network.scans[3]?.stop()
    const server = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.writeHead(503).end()
    })
    server.listen(Number(new URL(network.peers[3]?.url ?? '').port), '127.0.0.1')
    await once(server, 'listening')
    fileResources.onClose(() => server.close())
    return asked
  })
  .extend('client', { scope: 'file' }, async ({ network, asked: _, fileResources }) => {
    const config = {
      ...network.config,
      nodes: network.peers,
      trustRule: trustRule({ members: ['sv-3', 'sv-1', 'sv-2'] }),
    }
    const validator = fileResources.opened(await startValidator(config, { clock: network.clock }))
    return createHttpClient(validator.url, null)
  })

it.for(['weak', 'certified'])('%s answers count, and ask, members of the list only', async (quorum, {
  client,
  asked,
}) => {
  const answer = await until('an answer', async () => {
    const answer = await client.get(PATH, { 'x-quorum': quorum })
    return answer.status === 200 ? answer : undefined
  })
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'x-quorum-outcome': 'verified',
    'x-quorum-trust': 'sv-1,sv-2,sv-3',
    'x-quorum-threshold': '2',
    'x-quorum-agreed': expect.stringMatching(/^sv-[123](,sv-[123]){1,2}$/),
  })
  expect(asked.filter((path) => !NOT_OF_THE_PROXY.test(path))).toEqual([])
})

it('thresholds are of the list', async ({ client }) => {
  const all = await client.get(PATH, { 'x-quorum': 'all' })
  expect(all.headers.get('x-quorum-threshold')).toBe('3')
  expect(await client.get(PATH, { 'x-quorum': '4' })).toAnswer(400, 'INVALID_QUORUM')
})

it('asks no other node after the addresses were read again', async ({ client, network, asked }) => {
  await network.scans[0]?.stop()
  await network.scans[0]?.moveTo(await freePort())
  await until('the moved node to vote', async () =>
    (await client.get(PATH, { 'x-quorum': 'all' })).status === 200 ? true : undefined,
  )
  expect(asked.filter((path) => !NOT_OF_THE_PROXY.test(path))).toEqual([])
})

it('a name that the genesis has not ends the start', async ({ network }) => {
  const config = { ...network.config, trustRule: trustRule({ members: ['sv-9'] }) }
  await expect(startValidator(config, { clock: network.clock })).rejects.toThrow(
    'QS_TRUST_MEMBERS: sv-9 is not a member of the network',
  )
})
