/**
 * A node with another history, at the address of a killed node. It returns the answers of an honest node with another
 * history hash. One such node is outvoted; f + 1 of them are a fork.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { standIn } from './stand-in.ts'

const FORWARDED = ['offset', 'record-time', 'head', 'head-time'].map((name) => `x-ledger-${name}`)

export async function startForkedNode(options: {
  /** URL of the killed node. */
  readonly url: string
  readonly honestUrl: string
  readonly historyHash: string
}): Promise<AsyncDisposable> {
  const forward = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = 'GET', url } = request
    const init = method === 'POST' ? { method, body: await text(request) } : { method }
    const answer = await fetch(`${options.honestUrl}${url}`, init)
    const headers = FORWARDED.flatMap((name) => {
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

  return standIn(options.url, forward)
}
