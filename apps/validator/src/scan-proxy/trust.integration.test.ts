/**
 * A validator that trusts some members only (D-75): whom it asks, and whose answers it counts.
 *
 * @module-tag rest
 */
import { createHttpClient, freePort, send, serve, until } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { trustRule } from '@quorumscan/verifier'
import { expect } from 'vitest'
import { startValidator } from '../server.ts'
import { startNetwork } from '../testing/network.ts'

const PATH = '/v0/scan-proxy/ans-entries/by-name/dso.ns'
/**
 * With these the validator compares its clock, loads its first replica and collects signed states: they are not of the scan
 * proxy.
 */
const OF_THE_FOLLOWER = /^\/(livez|v0\/(snapshots|state-statements))/
/** Operations that nodes do not request of each other. */
const READS =
  /^quorumscan_http_request_duration_seconds_count\{operation="(lookupEntries|getEntryByName|getCertificate|listScans)".*$/gm

const it = base
  .extend('network', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await startNetwork(4)),
  )
  /** Requests that arrive at the address of sv-4 in the configuration. Its node is elsewhere. */
  .extend('configured', { scope: 'file' }, async ({ fileResources }) => {
    const asked: string[] = []
    const server = fileResources.opened(
      await serve((request, response) => {
        asked.push(request.url ?? '')
        response.writeHead(503).end()
      }),
    )
    return { asked, url: server.url }
  })
  .extend('client', { scope: 'file' }, async ({ network, configured: { url }, fileResources }) => {
    const config = {
      ...network.config,
      nodes: [...network.peers.slice(0, 3), { name: 'sv-4', url }],
      seeds: [url, ...network.config.seeds.slice(0, 1)],
      trustRule: trustRule({ members: ['sv-3', 'sv-1', 'sv-2'] }),
    }
    const validator = fileResources.opened(await startValidator(config, { clock: network.clock }))
    return createHttpClient(validator.url, null)
  })
  /** What the scan proxy requested of sv-4. */
  .extend('askedOfOther', ({ network, configured }) => async (): Promise<readonly string[]> => {
    const { text } = await send(`${network.peers[3]?.url}/metrics`)
    const atConfigured = configured.asked.filter((path) => !OF_THE_FOLLOWER.test(path))
    return [...atConfigured, ...(text.match(READS) ?? []).filter((line) => !line.endsWith(' 0'))]
  })

it.for(['weak', 'certified'])(
  '%s answers are of members of the list, and no other node is asked',
  async (quorum, { client, askedOfOther }) => {
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
    expect(await askedOfOther()).toEqual([])
  },
)

it('thresholds are of the list', async ({ client }) => {
  const all = await client.get(PATH, { 'x-quorum': 'all' })
  expect(all.headers.get('x-quorum-threshold')).toBe('3')
  expect(await client.get(PATH, { 'x-quorum': '4' })).toAnswer(400, 'INVALID_QUORUM')
})

it('asks no other node after the addresses were read again', async ({
  client,
  network,
  askedOfOther,
}) => {
  await network.scans[1]?.stop()
  await network.scans[1]?.moveTo(await freePort())
  await until('the moved node to vote', async () =>
    (await client.get(PATH, { 'x-quorum': 'all' })).status === 200 ? true : undefined,
  )
  expect(await askedOfOther()).toEqual([])
})

it('a name that the genesis has not ends the start', async ({ network }) => {
  const config = { ...network.config, trustRule: trustRule({ members: ['sv-9'] }) }
  await expect(startValidator(config, { clock: network.clock })).rejects.toThrow(
    'QS_TRUST_MEMBERS: sv-9 is not a member of the network',
  )
})
