/** A server with TLS of its own: its connections have the same limits as plain ones. */
import { once } from 'node:events'
import { copyFile, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { type Clock, requestReload } from '@quorumscan/base'
import { createLogger, openTlsCertificate } from '@quorumscan/runtime'
import {
  createAuthority,
  createManualClock,
  createRawClient,
  textUntilClosed,
  untilTrue,
} from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { Type } from 'typebox'
import { expect } from 'vitest'
import { buildServer, type ServerOptions } from './server.ts'

const it = base
  .extend('authority', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await createAuthority()),
  )
  .extend('files', { scope: 'file' }, ({ authority }) => authority.issue('sv-1'))
  .extend(
    'start',
    ({ files, authority }) =>
      async (options: Partial<ServerOptions<typeof routes, never>> = {}) => {
        const { clock = createManualClock() } = options
        const lines: string[] = []
        const stream = { write: (line: string) => void lines.push(line) }
        const logger = createLogger({ name: 'test', level: 'info', stream })
        const server = buildServer({
          routes,
          handlers: { put: async () => ({ body: true }), livez: async () => ({ body: null }) },
          prefix: null,
          rateLimit: null,
          clock,
          certificate: await openTlsCertificate(files, { clock, logger }),
          ...options,
        })
        await server.listen({ host: '127.0.0.1', port: 0 })
        const { port } = server.server.address() as { port: number }
        const client = createRawClient(port, await readFile(authority.caFile))
        return {
          server,
          lines,
          connect: client.openSecure,
          connectPlain: client.begin,
          async [Symbol.asyncDispose]() {
            await server.close()
            client[Symbol.dispose]()
          },
        }
      },
  )

const common = { tag: 'test', summary: '', errors: [], auth: 'none' } as const
const routes = {
  put: {
    ...common,
    operationId: 'put',
    method: 'POST',
    path: '/put',
    body: Type.Object({}),
    response: Type.Boolean(),
    cost: 1,
  },
  livez: {
    ...common,
    operationId: 'livez',
    method: 'GET',
    path: '/livez',
    response: null,
    cost: 0,
  },
} as const

const PROBE = 'GET /livez HTTP/1.1\r\nhost: a\r\n\r\n'
const LAST_PROBE = PROBE.replace('host', 'connection: close\r\nhost')
/** The beginning of a ClientHello. */
const HALF_A_HELLO = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01])

it('answers over TLS, one request after the other, and nothing but TLS', async ({ start }) => {
  await using running = await start()
  const socket = await running.connect()
  const text = textUntilClosed(socket)
  socket.write(PROBE + LAST_PROBE)
  expect((await text).match(/HTTP\/1\.1 200/g)).toHaveLength(2)
  const plain = running.connectPlain()
  plain.write(PROBE)
  expect(await textUntilClosed(plain)).toBe('')
})

it('a body that is not read to its end is sent to its end, and the answer is read', async ({
  start,
}) => {
  await using running = await start({ limits: { bodyBytesMax: 1_000 } })
  const socket = await running.connect()
  const text = textUntilClosed(socket)
  const bytes = 4 * 1024 * 1024
  const head = 'POST /put HTTP/1.1\r\nhost: a\r\ncontent-type: application/json'
  socket.write(`${head}\r\ncontent-length: ${bytes}\r\n\r\n`)
  const sent = new Promise((resolve) => socket.write('x'.repeat(bytes), resolve))
  expect(await text).toMatch(/^HTTP\/1\.1 413 .*BODY_TOO_LARGE/s)
  expect(await sent).toBeFalsy()
})

it('a connection during its handshake counts as idle, and makes room', async ({ start }) => {
  await using running = await start({ limits: { connectionsPerClientMax: 2 } })
  const halves = []
  for (let count = 0; count < 2; count++) {
    const accepted = once(running.server.server, 'connection')
    const half = running.connectPlain()
    half.write(HALF_A_HELLO)
    halves.push(textUntilClosed(half))
    await accepted
  }
  const [one, other] = [await running.connect(), await running.connect()]
  expect(await Promise.all(halves)).toEqual(['', ''])
  for (const socket of [one, other]) {
    const text = textUntilClosed(socket)
    socket.write(LAST_PROBE)
    expect(await text).toMatch(/^HTTP\/1\.1 200/)
  }
})

it('an idle connection is closed for the next one of its client', async ({ start }) => {
  await using running = await start({ limits: { connectionsPerClientMax: 1 } })
  const kept = await running.connect()
  kept.write(PROBE)
  await once(kept, 'data')
  const ended = textUntilClosed(kept)
  await running.connect()
  expect(await ended).toBe('')
})

it('a handshake that takes too long is cut off, and an idle connection remains', async ({
  start,
}) => {
  await using running = await start({ limits: { requestMsMax: 100, idleConnectionMsMax: 600_000 } })
  const idle = await running.connect()
  const half = running.connectPlain()
  half.write(HALF_A_HELLO)
  expect(await textUntilClosed(half)).toBe('')
  const answer = textUntilClosed(idle)
  idle.write(LAST_PROBE)
  expect(await answer).toMatch(/^HTTP\/1\.1 200/)
})

it('a handshake costs two units of its address', async ({ start }) => {
  // The clock of the server does not move.
  await using running = await start({
    limits: { requestMsMax: 600_000 },
    rateLimit: { unitsPerSecond: 200 },
  })
  const ends = Array.from({ length: 101 }, async () => {
    const socket = running.connectPlain()
    await once(socket, 'connect')
    return socket
  })
  const sockets = await Promise.all(ends)
  await untilTrue('one to be cut off', () => sockets.filter((one) => one.destroyed).length === 1)
  for (const socket of sockets) socket.destroy()
})

it('closing waits for no connection that has asked nothing', async ({ start }) => {
  await using running = await start()
  const ended = textUntilClosed(await running.connect())
  await running.server.close()
  expect(await ended).toBe('')
})

const LOOK_MS = 10_000
const serialOf = (socket: TLSSocket) => socket.getPeerCertificate().serialNumber

it('a certificate that was renewed is shown from then on', async ({ authority, files, start }) => {
  const manual = createManualClock()
  let looksBegun = 0
  const clock: Clock = {
    ...manual,
    delay(ms, signal) {
      if (ms === LOOK_MS) looksBegun++
      return manual.delay(ms, signal)
    },
  }
  const own = {
    certFile: join(authority.directory, 'own'),
    keyFile: join(authority.directory, 'k'),
  }
  await copyFile(files.certFile, own.certFile)
  await copyFile(files.keyFile, own.keyFile)
  const lines: string[] = []
  const logger = createLogger({
    name: 't',
    level: 'info',
    stream: { write: (line) => void lines.push(line) },
  })
  const certificate = await openTlsCertificate(own, { clock, logger })
  await using running = await start({ clock, certificate })
  const before = serialOf(await running.connect())
  const renewed = await authority.issue('renewed')
  /** Resolves when the process has reported the result, as it then waits again. */
  const lookThrice = async () => {
    const wanted = looksBegun + 3
    await untilTrue('three looks', async () => {
      await manual.advance(LOOK_MS)
      return looksBegun >= wanted
    })
  }
  // The key is not there yet.
  await copyFile(renewed.certFile, own.certFile)
  await lookThrice()
  expect(lines).toEqual([expect.stringMatching(/"warn".*QS_TLS_CERT, QS_TLS_KEY/)])
  expect(serialOf(await running.connect())).toBe(before)
  // By rename: a half-written key would be reported, too.
  await copyFile(renewed.keyFile, `${own.keyFile}.new`)
  lines.length = 0
  await rename(`${own.keyFile}.new`, own.keyFile)
  await lookThrice()
  expect(lines).toEqual([expect.stringContaining('was renewed')])
  const second = serialOf(await running.connect())
  expect(second).not.toBe(before)

  // At once where the operator asks for it.
  const third = await authority.issue('renewed again')
  await copyFile(third.certFile, own.certFile)
  requestReload()
  expect(lines.at(-1)).toContain('"warn"')
  await copyFile(third.keyFile, own.keyFile)
  requestReload()
  expect(lines.at(-1)).toContain('was renewed')
  expect(serialOf(await running.connect())).not.toBe(second)
})

it('missing files end the start, with their names', async ({ authority, files }) => {
  const app = {
    clock: createManualClock(),
    logger: createLogger({ name: 't', level: 'silent' }),
  }
  const nowhere = join(authority.directory, 'nowhere')
  const open = (changes: object) => openTlsCertificate({ ...files, ...changes }, app)
  await expect(open({ certFile: nowhere })).rejects.toThrow(/^QS_TLS_CERT: .*nowhere/)
  await expect(open({ keyFile: nowhere })).rejects.toThrow(/^QS_TLS_KEY: .*nowhere/)
  await expect(open({ keyFile: files.certFile })).rejects.toThrow(/^QS_TLS_CERT, QS_TLS_KEY: /)
  await expect(open({ clientCaFile: nowhere })).rejects.toThrow(/^QS_TLS_CLIENT_CA: .*nowhere/)
  await expect(open({ clientCaFile: files.keyFile })).rejects.toThrow(
    /^QS_TLS_CLIENT_CA: .*must hold a cert/,
  )
})
