/**
 * A node that was shown another log, at the address of one that was killed: it gives the answers of an
 * honest node, and another history. One alone is outvoted; f + 1 of them are a fork.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { until } from '@quorumscan/testkit'

const PASSED_ON = ['offset', 'record-time', 'head', 'head-time'].map((name) => `x-ledger-${name}`)

export async function startForkedNode(options: {
  /** Where the killed node was. */
  readonly url: string
  readonly honestUrl: string
  readonly historyHash: string
}): Promise<AsyncDisposable> {
  const passOn = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = 'GET', url } = request
    const init = method === 'POST' ? { method, body: await text(request) } : { method }
    const answer = await fetch(`${options.honestUrl}${url}`, init)
    const headers = PASSED_ON.flatMap((name) => {
      const value = answer.headers.get(name)
      return value === null ? [] : [[name, value] as const]
    })
    const body = await answer.text()
    response.writeHead(answer.status, {
      ...Object.fromEntries(headers),
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'x-ledger-history-hash': options.historyHash,
    })
    response.end(body)
  }

  const server = createServer((request, response) => {
    passOn(request, response).catch(() => response.destroy())
  })
  const port = Number(new URL(options.url).port)
  await until(
    `port ${port} to be free`,
    () =>
      new Promise<true | undefined>((resolve) => {
        server.once('error', () => resolve(undefined))
        server.listen(port, '127.0.0.1', () => resolve(true))
      }),
  )
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
