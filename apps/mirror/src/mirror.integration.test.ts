/** Readers that use a mirror of real nodes, which they need not trust. */
import { type Clock, sha256 } from '@quorumscan/base'
import { createFetchTransport, type Transport } from '@quorumscan/reader'
import { createCertifiedReader } from '@quorumscan/reader/certified'
import { createUndiciTransport, UsageError } from '@quorumscan/runtime'
import { startNetwork } from '@quorumscan/scan/testing'
import type { HttpServer } from '@quorumscan/server'
import { send, until } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { createPlatformCrypto, type Lookup } from '@quorumscan/verifier'
import {
  batchQuery,
  CERTIFIED_MEDIA_TYPE,
  createCertifiedVerifier,
  nameQuery,
} from '@quorumscan/verifier/certified'
import { afterEach, expect } from 'vitest'
import { buildMirror, type MirrorOptions } from './mirror.ts'

const NAME = 'sv-2.sv.ns'
const PATH = `/v0/ans-entries/by-name/${NAME}`
/** An address without a server. */
const NOWHERE = 'http://127.0.0.1:1'
const headers = { accept: CERTIFIED_MEDIA_TYPE }

const it = base
  .extend('network', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await startNetwork(4)),
  )
  .extend('nodes', { scope: 'file' }, async ({ network, fileResources }) => {
    const nodes = (await network.startNodes()).map((node) => fileResources.opened(node))
    for (const { url } of nodes)
      await until('nodes to certify', async () =>
        (await send(url + PATH, { headers })).status === 200 ? true : undefined,
      )
    return nodes
  })
  .extend('http', { scope: 'file' }, ({ fileResources }) =>
    fileResources.opened(createUndiciTransport()),
  )
  .extend(
    'startMirror',
    ({ http, network }) =>
      async (sources: readonly string[], options: Partial<MirrorOptions> = {}): Promise<string> => {
        const defaults = { sources, transport: http, clock: network.clock }
        const server = buildMirror({ ...defaults, ...options })
        servers.push(server)
        return server.listen({ host: '127.0.0.1', port: 0 })
      },
  )
  /** A transport that records requests to nodes, and can change their answers. */
  .extend(
    'watched',
    ({ http }) =>
      (
        change: (body: string) => string = (body) => body,
        answered: Readonly<Record<string, string>> = {},
      ) => {
        const asked: string[] = []
        const transport: Transport = {
          async request(input) {
            asked.push(input.url + input.path)
            const reply = await http.request(input)
            return {
              ...reply,
              header: (name) => answered[name] ?? reply.header(name),
              body: new TextEncoder().encode(change(Buffer.from(reply.body).toString())),
            }
          },
        }
        return { asked, transport }
      },
  )
  .extend(
    'urlOf',
    ({ nodes }) =>
      (index: number) =>
        nodes[index]?.url ?? '',
  )
  .extend('networkOf', ({ network }) => () => ({
    genesis: network.genesis,
    genesisHash: network.genesisHash,
    sha256,
  }))
  .extend('read', ({ networkOf, network }) => async (seeds: readonly string[]) => {
    await using reader = createCertifiedReader({
      ...networkOf(),
      seeds,
      transport: createFetchTransport(),
      clock: network.clock,
      allowPrivateAddresses: true,
    })
    const [outcome] = await reader.lookup([{ name: NAME }])
    return { outcome, nodes: reader.status().nodes }
  })
  /** Advances only by calls. Starts at a whole number: sums with fractions are sometimes rounded down. */
  .extend('standingClock', ({ network }) => (movedMs: () => number): Clock => {
    const startMs = Math.ceil(network.clock.monotonicMs())
    return { ...network.clock, monotonicMs: () => startMs + movedMs() }
  })
  .extend(
    'verifier',
    ({ networkOf }) =>
      () =>
        createCertifiedVerifier({ ...networkOf(), crypto: createPlatformCrypto() }),
  )
const servers: HttpServer[] = []

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

it('serves answers that a reader verifies with the genesis, and the data for that', async ({
  startMirror,
  urlOf,
  read,
  network,
}) => {
  const mirror = await startMirror([urlOf(0)])
  const { outcome } = await read([mirror])
  expect(outcome).toMatchObject({ kind: 'verified', answer: { name: NAME } })

  const genesis = await send(`${mirror}/v0/genesis`)
  expect(genesis.body).toEqual(JSON.parse(JSON.stringify(network.genesis)))
  expect((await send(`${mirror}/v0/certificate`)).body).toHaveProperty('certificate')
})

it('forwards batches, and the refusals of nodes', async ({
  watched,
  startMirror,
  urlOf,
  verifier,
  networkOf,
}) => {
  const { asked, transport } = watched()
  const mirror = await startMirror([urlOf(0)], { transport })
  const lookups: readonly Lookup[] = [{ name: NAME }, { name: 'unknown' }]
  for (const path of ['/v0/ans-entries/batch', '/v0/ans-entries/batch']) {
    const { text } = await send(mirror + path, { method: 'POST', body: { lookups }, headers })
    const { answer } = await verifier().verify(text, batchQuery(lookups, networkOf()), 'weak')
    expect(answer).toMatchObject([{ name: NAME }, null])
  }
  const late = await send(`${mirror}${PATH}?min_offset=1000000000`, { headers })
  expect([late.status, late.body.code]).toEqual([503, 'NO_CERTIFICATE'])
  expect(asked.length).toBe(3)
})

it('a lying mirror is detected by readers, which use another mirror if they have one', async ({
  watched,
  startMirror,
  urlOf,
  verifier,
  read,
}) => {
  const lie = watched((body) => body.replaceAll(`"name\\":\\"${NAME}`, `"name\\":\\"sv-3.sv.ns`))
  const liar = await startMirror([urlOf(0)], lie)
  const { text } = await send(liar + PATH, { headers })
  expect(text).toContain('sv-3.sv.ns')
  await expect(verifier().verify(text, nameQuery(NAME), 'weak')).rejects.toMatchObject({
    code: 'NOT_PROVEN',
  })
  const { outcome, nodes: seen } = await read([liar, await startMirror([urlOf(1)])])
  expect(outcome).toMatchObject({ kind: 'verified', answer: { name: NAME } })
  expect(seen.find(({ url }) => url === liar)).toMatchObject({ errors: 1 })
})

it('requests the next source if one is down, and keeps to the one that answers', async ({
  watched,
  startMirror,
  urlOf,
}) => {
  const { asked, transport } = watched()
  const mirror = await startMirror([NOWHERE, urlOf(3)], { transport })
  expect(await send(mirror + PATH, { headers })).toAnswer(200)
  expect(await send(`${mirror}${PATH}?signers=strong`, { headers })).toAnswer(200)
  expect(asked.map((url) => url.startsWith(NOWHERE))).toEqual([true, false, false])

  const none = await send((await startMirror([NOWHERE])) + PATH, { headers })
  expect([none.status, none.body.code]).toEqual([503, 'DEPENDENCY_UNAVAILABLE'])
})

it('caches an answer for all callers as long as the node allows, and sends its age', async ({
  watched,
  standingClock,
  startMirror,
  urlOf,
}) => {
  const { asked, transport } = watched()
  let movedMs = 0
  const clock = standingClock(() => movedMs)
  const mirror = await startMirror([urlOf(0)], { transport, clock })
  const get = () => send(mirror + PATH, { headers })
  const [first, ...others] = await Promise.all([get(), get(), get()])
  movedMs = 999
  for (const { text } of [...others, await get()]) expect(text).toBe(first?.text)
  expect(asked.length).toBe(1)
  movedMs = 1000
  expect((await get()).headers.get('age')).toBe('0')
  expect(asked.length).toBe(2)

  expect(await send(`${mirror}/v0/genesis`)).toAnswer(200)
  expect(await send(`${mirror}/v0/genesis`)).toAnswer(200)
  expect(asked.length).toBe(4)
})

it('a mirror of another mirror caches no answer longer than the node allows', async ({
  standingClock,
  watched,
  startMirror,
  urlOf,
}) => {
  let movedMs = 0
  const clock = standingClock(() => movedMs)
  const long = watched(undefined, { 'cache-control': 'public, max-age=10' })
  const first = await startMirror([urlOf(0)], { transport: long.transport, clock })
  const { asked, transport } = watched()
  const second = await startMirror([first], { transport, clock })
  const get = (mirror: string) => send(mirror + PATH, { headers })
  await get(first)
  for (const [atMs, askedCount] of [
    [4000, 1],
    [9999, 1],
    [10_000, 2],
  ] as const) {
    movedMs = atMs
    await get(second)
    expect([atMs, asked.length]).toEqual([atMs, askedCount])
  }
})

it('serves names in the form of the draft standard, which it verifies, while a source lies', async ({
  watched,
  startMirror,
  urlOf,
  networkOf,
}) => {
  const { transport } = watched((body) => body.replaceAll(NAME, 'sv-3.sv.ns'))
  const liar = await startMirror([urlOf(0)], { transport })
  const names = { ...networkOf(), networkName: 'devnet', trustRule: null } as const
  const mirror = await startMirror([liar, urlOf(1)], { names })
  const resolve = (from: string, name: string, network = 'devnet') =>
    send(`${from}/v0/resolve?name=${name}&network=${network}`)

  const found = await resolve(mirror, `devnet:cns:${NAME}`)
  const { party_id: party, ...rest } = found.body
  expect(rest).toEqual({ fqpn: `devnet:cns:${NAME}`, display_name: NAME })
  expect(found.headers.get('x-quorum-outcome')).toBe('verified')
  const reversed = await send(`${mirror}/v0/reverse-resolve?party=${party}&network=devnet`)
  expect(reversed.body).toEqual([found.body])
  const nameless = await send(`${mirror}/v0/reverse-resolve?party=x${party}&network=devnet`)
  expect([nameless.body, nameless.headers.get('x-quorum-outcome')]).toEqual([[], 'verified-absent'])
  expect(await resolve(mirror, 'unknown')).toAnswer(404, 'ENTRY_NOT_FOUND')
  expect(await resolve(mirror, NAME, 'mainnet')).toAnswer(400, 'INVALID_ARGUMENT')
  expect(await resolve(await startMirror([liar], { names }), NAME)).toAnswer(502)
  expect(await resolve(liar, NAME)).toAnswer(404, 'ROUTE_NOT_FOUND')
})

it('serves only certified answers, and refuses invalid source URLs', async ({
  startMirror,
  urlOf,
  http,
  network,
}) => {
  const mirror = await startMirror([urlOf(0)])
  const plain = await send(mirror + PATH)
  expect([plain.status, plain.body.code]).toEqual([400, 'INVALID_ARGUMENT'])
  for (const path of ['/v0/state-statements?after=0', '/metrics', '/livez'])
    expect((await send(mirror + path, { headers })).status, path).toBe(404)
  expect(() =>
    buildMirror({ sources: ['ftp://x'], transport: http, clock: network.clock }),
  ).toThrow(UsageError)
})
