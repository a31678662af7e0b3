import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { describeRefusal } from '@quorumscan/errors/node-words'
import { createAuthority } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { ask } from './ask.ts'

/** What is said of a server that does this with each connection. */
async function wordOf(
  onConnection: (socket: Socket) => void,
  timeoutMs: number,
): Promise<string | null> {
  const server = createServer(onConnection)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const answer = await ask(`http://127.0.0.1:${port}/`, { timeoutMs })
  server.close()
  return answer.reason
}

it('has one word each for who hangs, who resets and who does not listen', async () => {
  expect(await wordOf(() => {}, 50)).toBe('timeout')
  expect(await wordOf((socket) => socket.resetAndDestroy(), 60_000)).toBe('reset')
  // No machine has had a service on this port for decades.
  expect((await ask('http://127.0.0.1:2/', { timeoutMs: 60_000 })).reason).toBe('refused')
})

it('says what is wrong with TLS, and what an operator can do', async () => {
  await using authority = await createAuthority()
  const { certFile, keyFile } = await authority.issue('node')
  const wordOfServer = async (server: Server): Promise<string | null> => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const { reason } = await ask(`https://127.0.0.1:${port}/`, { timeoutMs: 60_000 })
    server.close()
    return reason
  }
  const tls = { cert: readFileSync(certFile), key: readFileSync(keyFile) }
  expect(await wordOfServer(createTlsServer(tls))).toBe(
    'untrusted certificate (NODE_EXTRA_CA_CERTS names the authority)',
  )
  expect(await wordOfServer(createHttpServer())).toBe('no TLS')
})

it('tells refusals apart, and repeats no text of a stranger', () => {
  expect(describeRefusal(503, { code: 'NO_CERTIFICATE' })).toBe('no certificate')
  expect(describeRefusal(503, { code: 'OFFSET_NOT_REACHED' })).toBe('behind')
  expect(describeRefusal(503, { code: 'LOG_FORK' })).toBe('LOG_FORK')
  expect(describeRefusal(500, { code: '\u001b[2J' })).toBe('status 500')
  expect(describeRefusal(404, null)).toBe('status 404')
})
