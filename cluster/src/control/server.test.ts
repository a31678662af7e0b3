import { request } from 'node:http'
import { expect, it } from 'vitest'
import { ClusterError } from '../cluster-error.ts'
import { drawBasePort } from '../ports.ts'
import { parseTtl } from '../token.ts'
import { startControlServer } from './server.ts'

async function startServer() {
  const port = await drawBasePort(0, 1)
  const context = () => {
    throw new ClusterError('no cluster in this test')
  }
  const server = await startControlServer({ port, token: 'secret', context })
  return { port, context, [Symbol.asyncDispose]: () => server.close() }
}

function statusOf(port: number, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path: '/trpc/cluster.status', headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
}

it('answers whoever has the token, and nobody else', async () => {
  await using server = await startServer()
  expect(await statusOf(server.port, {})).toBe(401)
  expect(await statusOf(server.port, { authorization: 'Bearer secre' })).toBe(401)
  expect(await statusOf(server.port, { authorization: 'Bearer secret' })).toBe(500)
})

it('answers under its own address only, so that no web page can be pointed at it', async () => {
  await using server = await startServer()
  const headers = { authorization: 'Bearer secret', host: `evil.example:${server.port}` }
  expect(await statusOf(server.port, headers)).toBe(403)
})

it('is the only one on its port', async () => {
  await using server = await startServer()
  const again = startControlServer({ ...server, token: '' })
  await expect(again).rejects.toThrow(`port ${server.port} of the control plane is in use`)
})

it.each([
  ['90s', 90],
  ['15m', 900],
  ['24h', 86_400],
  ['7d', 604_800],
])('reads the lifetime %s as %d seconds', (text, want) => {
  expect(parseTtl(text)).toBe(want)
})

it.each(['', '0s', '-1h', '1', '1w', '1.5h', '367d', 'h'])('refuses the lifetime "%s"', (text) => {
  expect(() => parseTtl(text)).toThrow(ClusterError)
})
