import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { describeRefusal } from '@quorumscan/errors/node-words'
import { createAuthority, listen, serve, type TestServer } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { ask } from './ask.ts'

/** The reason that `ask` gives for a server that treats each connection so. */
async function wordOf(onConnection: (socket: Socket) => void, timeoutMs: number) {
  await using server = await listen(onConnection)
  return (await ask(`http://127.0.0.1:${server.port}/`, { timeoutMs })).reason
}

it('names a timeout, a reset and a refused connection in one word each', async () => {
  expect(await wordOf(() => {}, 50)).toBe('timeout')
  expect(await wordOf((socket) => socket.resetAndDestroy(), 60_000)).toBe('reset')
  // No machine has had a service on this port for decades.
  expect((await ask('http://127.0.0.1:2/', { timeoutMs: 60_000 })).reason).toBe('refused')
})

it('says what is wrong with TLS, and what an operator can do', async () => {
  await using authority = await createAuthority()
  const { certFile, keyFile } = await authority.issue('node')
  const wordOfServer = async (server: TestServer): Promise<string | null> => {
    await using _server = server
    return (await ask(`https://127.0.0.1:${server.port}/`, { timeoutMs: 60_000 })).reason
  }
  const tls = { cert: readFileSync(certFile), key: readFileSync(keyFile) }
  expect(await wordOfServer(await serve(() => {}, { tls }))).toBe(
    'untrusted certificate (QS_PEER_CA names the authority)',
  )
  expect(await wordOfServer(await serve(() => {}))).toBe('no TLS')
})

it('distinguishes refusals, and prints no text from the server', () => {
  expect(describeRefusal(503, { code: 'NO_CERTIFICATE' })).toBe('no certificate')
  expect(describeRefusal(503, { code: 'OFFSET_NOT_REACHED' })).toBe('lagging')
  expect(describeRefusal(503, { code: 'LOG_FORK' })).toBe('LOG_FORK')
  expect(describeRefusal(500, { code: '\u001b[2J' })).toBe('status 500')
  expect(describeRefusal(404, null)).toBe('status 404')
})
