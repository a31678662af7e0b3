/** A Byzantine node: it answers every request with bytes that are expensive for the reader only. */
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { createSystemClock } from '@quorumscan/base'
import { formatInstant } from '@quorumscan/verifier'
import { answer, childArgument } from '../support/child.ts'
import type { CostlyLie, LyingNodeArgument } from './lying-node.ts'

const MEGABYTE = 1_000_000
/** Size limit of a page of 1000 entries. */
const BYTES = 2 * MEGABYTE

/** Framing and body of the answer to each lie, made before the first request. */
const lies: Readonly<Record<CostlyLie, () => { readonly framing: string; readonly body: Buffer }>> =
  {
    brackets: () => whole(`{"entries":[${'[],'.repeat((BYTES - 20) / 3)}[]]}`),
    moreBrackets: () => whole(`{"entries":[${'[],'.repeat((8 * MEGABYTE) / 3)}[]]}`),
    depth: () => whole('['.repeat(MEGABYTE) + ']'.repeat(MEGABYTE)),
    chunks: () => ({
      framing: 'transfer-encoding: chunked',
      body: Buffer.from(`${'1\r\n \r\n'.repeat(8 * MEGABYTE)}0\r\n\r\n`),
    }),
  }

function whole(content: string) {
  return { framing: `content-length: ${content.length}`, body: Buffer.from(content) }
}

const clock = createSystemClock()
const { port, lie } = childArgument<LyingNodeArgument>()
const { framing, body } = lies[lie]()
const server = createServer(async (request, response) => {
  const query = JSON.parse((await text(request)) || '{}')
  const offset = query.at_offset ?? request.headers['x-read-at-offset'] ?? 1
  const { socket } = request
  response.on('close', () => socket.destroy())
  // Written to the socket, because the HTTP server would make its own chunks.
  socket.write(
    [
      'HTTP/1.1 200 OK',
      'content-type: application/json; charset=utf-8',
      `x-ledger-offset: ${offset}`,
      `x-ledger-head: ${offset}`,
      `x-ledger-record-time: ${formatInstant(clock.nowMicros())}`,
      `x-ledger-history-hash: ${'ab'.repeat(32)}`,
      `${framing}\r\n\r\n`,
    ].join('\r\n'),
  )
  socket.write(body, () => socket.end())
})
server.on('clientError', (_error, socket) => socket.destroy())
server.listen(port, '127.0.0.1', () => answer({}))
