/** Peers that present a certificate in place of a token, over real TLS. */
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { synchronizerRoutes } from '@quorumscan/api'
import { openClientTls } from '@quorumscan/base'
import { createFetch, createLogger, openTlsCertificate } from '@quorumscan/runtime'
import type { Handlers } from '@quorumscan/server'
import { buildServer } from '@quorumscan/server'
import {
  createAuthority,
  createManualClock,
  type TestAuthority,
  untilTrue,
} from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { createLogClient } from './log-client.ts'

const LOOK_MS = 10_000
const signal = new AbortController().signal

const it = base
  .extend('servers', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await createAuthority('servers')),
  )
  .extend('followers', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await createAuthority('followers')),
  )
  .extend('others', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await createAuthority('others')),
  )
  .extend('startSynchronizer', ({ servers, followers }) => async () => {
    const clock = createManualClock()
    const clientCaFile = join(servers.directory, 'clients')
    await copyFile(followers.caFile, clientCaFile)
    const app = {
      clock,
      logger: createLogger({ name: 't', level: 'silent' }),
    }
    const shown = { ...(await servers.issue('synchronizer')), clientCaFile }
    const unused = async () => expect.fail('not called')
    /** The callers that submitted. */
    const submitters: { readonly key: string; readonly isPeer: boolean }[] = []
    const handlers: Handlers<typeof synchronizerRoutes> = {
      livez: async () => ({ body: null }),
      readyz: unused,
      getStatus: unused,
      getVersion: unused,
      readEngine: unused,
      listOrderingEvidence: unused,
      followLog: async () => ({ body: new TextEncoder().encode('the log') }),
      submitEntry: async ({ client: { key, isPeer } }) => {
        submitters.push({ key, isPeer })
        return { body: { accepted: true } }
      },
    }
    const server = buildServer({
      routes: synchronizerRoutes,
      handlers,
      prefix: null,
      rateLimit: { unitsPerSecond: 100 },
      clock,
      certificate: await openTlsCertificate(shown, app),
    })
    await server.listen({ host: '127.0.0.1', port: 0 })
    const serials: string[] = []
    server.server.on('secureConnection', (socket: TLSSocket) => {
      serials.push(socket.getPeerCertificate().serialNumber)
    })
    const { port } = server.server.address() as { port: number }
    return {
      url: `https://127.0.0.1:${port}`,
      clock,
      clientCaFile,
      submitters,
      /** Serial numbers of the certificates of the clients that connected. */
      serials,
      cutAll: () => server.server.closeAllConnections(),
      [Symbol.asyncDispose]: () => server.close(),
    }
  })
  .extend('follow', ({ servers }) => (url: string, own: OwnFiles | null) => {
    const named = (variable: string, file: string) => ({ variable, file })
    const trust = openClientTls({
      ca: named('QS_PEER_CA', servers.caFile),
      own: own && {
        cert: named('QS_LOG_CERT', own.certFile),
        key: named('QS_LOG_KEY', own.keyFile),
      },
    })
    const client = createLogClient({ url, trust })
    return {
      async read() {
        const pieces: Uint8Array[] = []
        for await (const piece of await client.open({ from: 1, signal })) pieces.push(piece)
        return Buffer.concat(pieces).toString()
      },
      submit: () => client.submit(new Uint8Array(1), signal),
      [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
    }
  })

type OwnFiles = Awaited<ReturnType<TestAuthority['issue']>>

it('a client with a certificate of the authority follows and submits as a peer, and no other client', async ({
  startSynchronizer,
  follow,
  followers,
  others,
}) => {
  await using synchronizer = await startSynchronizer()
  const { url, submitters } = synchronizer
  await using peer = follow(url, await followers.issue('validator'))
  await using anonymous = follow(url, null)
  await using other = follow(url, await others.issue('validator'))
  expect(await peer.read()).toBe('the log')
  await peer.submit()
  for (const refused of [anonymous, other]) {
    await expect(refused.read()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
    await refused.submit()
  }
  expect(submitters.map(({ isPeer }) => isPeer)).toEqual([true, false, false])
})

it('a follower presents its renewed certificate, and remains the same peer', async ({
  startSynchronizer,
  followers,
  follow,
}) => {
  await using synchronizer = await startSynchronizer()
  const { url, serials, submitters } = synchronizer
  const own = await followers.issue('sv-1')
  const held = {
    certFile: join(followers.directory, 'held.pem'),
    keyFile: join(followers.directory, 'held.key'),
  }
  await copyFile(own.certFile, held.certFile)
  await copyFile(own.keyFile, held.keyFile)
  await using follower = follow(url, held)
  await follower.read()
  const renewed = await followers.issue('renewed', 'sv-1')
  await copyFile(renewed.certFile, held.certFile)
  // The key of the renewed certificate is not written yet.
  await follower.submit()
  await copyFile(renewed.keyFile, held.keyFile)
  synchronizer.cutAll()
  await untilTrue('a new connection', async () => {
    await follower.submit().catch(() => {}) // Its connection may be cut meanwhile.
    return submitters.length > 1
  })
  const [first, second, third] = serials
  expect(second).toBe(first)
  expect(third).not.toBe(first)
  expect(submitters[1]).toEqual(submitters[0])
  expect(submitters[0]?.isPeer).toBe(true)
})

it('requests tokens only from an issuer that QS_PEER_CA trusts', async ({
  startSynchronizer,
  servers,
}) => {
  await using synchronizer = await startSynchronizer()
  const ca = { variable: 'QS_PEER_CA', file: servers.caFile }
  const { status } = await createFetch(openClientTls({ ca, own: null }))(
    `${synchronizer.url}/livez`,
  )
  expect(status).toBe(200)
  await expect(createFetch(null)(`${synchronizer.url}/livez`)).rejects.toThrow()
})

it('a replaced client authority file is reloaded', async ({
  startSynchronizer,
  followers,
  others,
  follow,
}) => {
  await using synchronizer = await startSynchronizer()
  const { url, clock, clientCaFile } = synchronizer
  const [own, another] = [await followers.issue('sv-2'), await others.issue('sv-2')]
  await copyFile(others.caFile, clientCaFile)
  await untilTrue('the other authority to count', async () => {
    await clock.advance(LOOK_MS)
    await using other = follow(url, another)
    return (await other.read().catch(() => '')) === 'the log'
  })
  await using former = follow(url, own)
  await expect(former.read()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
})
