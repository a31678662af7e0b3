/** Readers that use a mirror of real nodes, which they need not trust. */
import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { type Clock, sha256 } from '@quorumscan/base'
import { createFetchTransport, type Transport } from '@quorumscan/reader'
import { createCertifiedReader } from '@quorumscan/reader/certified'
import { createUndiciTransport, UsageError } from '@quorumscan/runtime'
import { startNetwork } from '@quorumscan/scan/testing'
import type { HttpServer } from '@quorumscan/server'
import { listen, send, serve, until } from '@quorumscan/testkit'
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
        const { genesis, genesisHash, clock } = network
        const defaults = { sources, transport: http, clock, network: { genesis, genesisHash } }
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
      crypto: createPlatformCrypto(),
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

it('a lying server is detected by readers, which use a mirror if they have one', async ({
  startMirror,
  urlOf,
  verifier,
  read,
  resources,
}) => {
  const liar = resources.opened(
    await serve(async ({ url: path = '' }, response) => {
      const { text } = await send(urlOf(0) + path, { headers })
      const lie = text.replaceAll(`"name\\":\\"${NAME}`, `"name\\":\\"sv-3.sv.ns`)
      response.setHeader('content-type', CERTIFIED_MEDIA_TYPE).end(lie)
    }),
  )
  const { text } = await send(liar.url + PATH, { headers })
  expect(text).toContain('sv-3.sv.ns')
  await expect(verifier().verify(text, nameQuery(NAME), 'weak')).rejects.toMatchObject({
    code: 'NOT_PROVEN',
  })
  const { outcome, nodes: seen } = await read([liar.url, await startMirror([urlOf(1)])])
  expect(outcome).toMatchObject({ kind: 'verified', answer: { name: NAME } })
  expect(seen.find(({ url }) => url === liar.url)).toMatchObject({ errors: 1 })
  // A mirror passes no lie on.
  expect(await send((await startMirror([liar.url])) + PATH, { headers })).toAnswer(
    503,
    'DEPENDENCY_UNAVAILABLE',
  )
})

const SCRIPT = '<script>alert(1)</script>'
const refusal = (status: number, code: string): RequestListener => {
  return (_request, response) =>
    response
      .writeHead(status, { 'cache-control': 'max-age=9999' })
      .end(JSON.stringify({ error: 'no', code, definite: true, retryable: false }))
}
/** 64 MiB of zeros. */
const BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024))
const LIES: readonly (readonly [string, RequestListener])[] = [
  ['garbage', (_request, response) => response.end('{}')],
  ['nothing', (_request, response) => response.end()],
  ['a script', (_request, response) => response.setHeader('content-type', 'text/html').end(SCRIPT)],
  [
    'a script with 400',
    (_request, response) => response.writeHead(400, { 'content-type': 'text/html' }).end(SCRIPT),
  ],
  ['a 404 of its own', (_request, response) => response.writeHead(404).end()],
  ['a redirect', (_request, response) => response.writeHead(302, { location: '/' }).end()],
  [
    'a redirect to itself',
    ({ url = '' }, response) => response.writeHead(307, { location: url }).end(),
  ],
  ['a part', (_request, response) => response.writeHead(206, { 'content-range': '*/9' }).end('{}')],
  ['no content', (_request, response) => response.writeHead(204).end()],
  [
    'a bomb',
    (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(BOMB),
  ],
  [
    'a huge length',
    (_request, response) =>
      response.writeHead(200, { 'content-length': 999_999_999_999 }).write('{'),
  ],
  ['a well-formed 404', refusal(404, 'ENTRY_NOT_FOUND')],
  ['a well-formed 400', refusal(400, 'INVALID_ARGUMENT')],
  ['a code with another status', refusal(200, 'ENTRY_NOT_FOUND')],
]

it.for(LIES)(
  'a source that answers %s is asked once, and never passed on',
  async ([, lie], { startMirror, urlOf, resources, standingClock }) => {
    let lieCount = 0
    const liar = resources.opened(
      await serve((request, response) => {
        lieCount++
        response.setHeader('cache-control', 'public, max-age=9999')
        lie(request, response)
      }),
    )
    let movedMs = 0
    const clock = standingClock(() => movedMs)
    const mirror = await startMirror([liar.url, urlOf(0)], { clock })
    for (let round = 0; round < 3; round++) {
      movedMs += 2000
      expect(await send(mirror + PATH, { headers })).toAnswer(200)
      const certificate = await send(`${mirror}/v0/certificate`)
      expect([certificate.status, certificate.type]).toEqual([200, 'application/json'])
    }
    expect(lieCount).toBe(1)
    // After its penalty it has another chance, behind the source that answers.
    movedMs += 61_000
    expect(await send(mirror + PATH, { headers })).toAnswer(200)
    expect(lieCount).toBe(1)

    const alone = await startMirror([liar.url])
    for (const path of [PATH, '/v0/certificate', '/v0/genesis']) {
      const answer = await send(alone + path, { headers })
      expect([answer.type, answer.text.includes('<script')]).toEqual(['application/json', false])
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
    }
  },
)

/** What a source may send that is not an answer, without an end. */
const SILENCES: readonly (readonly [string, (socket: Socket) => void])[] = [
  ['nothing', () => {}],
  ['a head that drips', (socket) => drip(socket, 'HTTP/1.1 200 OK\r\n', 'x: y\r\n')],
  ['half a body', (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{')],
  [
    'a body that drips',
    (socket) => drip(socket, 'HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n', 'x'),
  ],
  ['interim answers', (socket) => drip(socket, '', 'HTTP/1.1 103 Early Hints\r\n\r\n')],
]
function drip(socket: Socket, first: string, more: string): void {
  socket.write(first)
  const timer = setInterval(() => socket.write(more), 20)
  socket.once('close', () => clearInterval(timer))
}

it.for(SILENCES)(
  'waits 150 ms for a source that sends %s, and then no more',
  async ([, silence], { startMirror, urlOf, resources, standingClock }) => {
    let requestCount = 0
    const hung = resources.opened(
      await listen((socket) => {
        socket.on('error', () => {})
        socket.once('data', () => {
          requestCount++
          silence(socket)
        })
      }),
    )
    let movedMs = 0
    const waits: number[] = []
    const clock = standingClock(() => movedMs)
    const mirror = await startMirror([`http://127.0.0.1:${hung.port}`, urlOf(0)], {
      clock: {
        ...clock,
        delay(ms, signal) {
          waits.push(ms)
          return clock.delay(ms, signal)
        },
      },
    })
    for (let round = 0; round < 3; round++) {
      movedMs += 2000
      expect(await send(mirror + PATH, { headers })).toAnswer(200)
    }
    expect(requestCount).toBe(1)
    expect(waits).toContain(150)
    // Not at once: it may be the better source again after a minute, but it is not the first any more.
    movedMs += 61_000
    expect(await send(mirror + PATH, { headers })).toAnswer(200)
    expect(requestCount).toBe(1)
  },
)

it('asks a source that lied after all others, for a minute', async ({
  startMirror,
  urlOf,
  resources,
  standingClock,
}) => {
  const asked: string[] = []
  const isDown = { one: true, two: false }
  const serveAs = async (name: string, answer: RequestListener) =>
    resources.opened(
      await serve((request, response) => {
        asked.push(name)
        answer(request, response)
      }),
    ).url
  const honest = (name: keyof typeof isDown) =>
    serveAs(name, async ({ url: path = '' }, response) => {
      if (isDown[name]) return void response.writeHead(503, { 'content-length': 0 }).end()
      response.end((await send(urlOf(0) + path, { headers })).text)
    })
  const liar = await serveAs('liar', (_request, response) => response.end('{}'))
  let movedMs = 0
  const clock = standingClock(() => movedMs)
  const sources = [liar, await honest('one'), await honest('two')]
  const mirror = await startMirror(sources, { clock })
  const get = async () => {
    movedMs += 1000
    asked.length = 0
    expect(await send(mirror + PATH, { headers })).toAnswer(200)
    return [...asked]
  }
  expect(await get()).toEqual(['liar', 'one', 'two'])
  Object.assign(isDown, { one: false, two: true })
  expect(await get()).toEqual(['two', 'one'])
  // The other one is the first now.
  Object.assign(isDown, { one: true, two: false })
  movedMs += 60_000
  expect(await get()).toEqual(['one', 'two'])
  Object.assign(isDown, { one: false, two: true })
  expect(await get()).toEqual(['two', 'liar', 'one'])
})

it('finds the genesis itself, from what most sources answer', async ({
  startMirror,
  urlOf,
  resources,
  network,
}) => {
  const other = JSON.stringify({ ...network.genesis, nonce: 'ab'.repeat(32) })
  const liar = resources.opened(await serve((_request, response) => response.end(other)))
  const again = liar.url.replace('127.0.0.1', 'localhost')
  const mirror = await startMirror([liar.url, again, `${again}/x`, urlOf(0), urlOf(1)], {
    network: undefined as never,
  })
  expect((await send(`${mirror}/v0/genesis`)).body).toEqual(
    JSON.parse(JSON.stringify(network.genesis)),
  )
  expect(await send(mirror + PATH, { headers })).toAnswer(200)
})

it('finds it again while no majority of the sources named it', async ({
  startMirror,
  urlOf,
  resources,
  network,
  standingClock,
}) => {
  const other = JSON.stringify({ ...network.genesis, nonce: 'ab'.repeat(32) })
  const liar = resources.opened(await serve((_request, response) => response.end(other)))
  let isUp = false
  let genesisCount = 0
  const later = async (index: number) =>
    resources.opened(
      await serve(async ({ url: path = '' }, response) => {
        if (path === '/v0/genesis') genesisCount++
        if (!isUp) return void response.writeHead(503, { 'content-length': 0 }).end()
        response.end((await send(urlOf(index) + path, { headers })).text)
      }),
    ).url
  let movedMs = 0
  const mirror = await startMirror([liar.url, await later(0), await later(1)], {
    network: undefined as never,
    clock: standingClock(() => movedMs),
  })
  const readGenesis = async () => JSON.stringify((await send(`${mirror}/v0/genesis`)).body)
  const found = await readGenesis()
  isUp = true
  expect(await readGenesis()).toBe(found)
  expect(JSON.parse(found)).toEqual(JSON.parse(other))
  movedMs += 61_000
  await until('the genesis of the network', async () =>
    (await readGenesis()) === found ? undefined : true,
  )
  movedMs += 61_000
  expect(await send(mirror + PATH, { headers })).toAnswer(200)
  // Two of three are a majority: it is not asked again.
  expect(genesisCount).toBe(4)
  expect(JSON.parse(await readGenesis())).toEqual(JSON.parse(JSON.stringify(network.genesis)))
})

it('prefers a source with recent answers, and uses late ones if it has no other', async ({
  startMirror,
  urlOf,
  network,
}) => {
  // The mirror's clock is 10 minutes ahead: all answers are late.
  const nowMicros = () => network.clock.nowMicros() + 600e6
  const mirror = await startMirror([urlOf(0), urlOf(1)], { clock: { ...network.clock, nowMicros } })
  expect(await send(mirror + PATH, { headers })).toAnswer(200)
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
  expect(asked.length).toBe(2)
})

it('a mirror of another mirror caches no answer longer than nodes allow', async ({
  standingClock,
  watched,
  startMirror,
  urlOf,
}) => {
  let movedMs = 0
  const clock = standingClock(() => movedMs)
  // Only its age counts of what a source says.
  const long = watched(undefined, { 'cache-control': 'public, max-age=10' })
  const first = await startMirror([urlOf(0)], { transport: long.transport, clock })
  const { asked, transport } = watched()
  const second = await startMirror([first], { transport, clock })
  const get = (mirror: string) => send(mirror + PATH, { headers })
  await get(first)
  for (const [atMs, askedCount] of [
    [400, 1],
    [999, 1],
    [1400, 2],
  ] as const) {
    movedMs = atMs
    await get(second)
    expect([atMs, asked.length]).toEqual([atMs, askedCount])
  }
})

it('serves names in the form of the draft standard, which it verifies, while a source lies', async ({
  resources,
  startMirror,
  urlOf,
  networkOf,
}) => {
  const liar = resources.opened(
    await serve(async ({ url: path = '' }, response) => {
      const { text, status } = await send(urlOf(0) + path, { headers })
      response.writeHead(status).end(text.replaceAll(NAME, 'sv-3.sv.ns'))
    }),
  ).url
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
  expect(await resolve(await startMirror([urlOf(1)]), NAME)).toAnswer(404, 'ROUTE_NOT_FOUND')
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
