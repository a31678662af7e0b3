/** A byzantine node at its own address: to every request it sends bytes that cost the reader, not the sender. */
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { createSystemClock } from '@quorumscan/base'
import { formatInstant as formatTime } from '@quorumscan/verifier'
import { answer, childArgument } from '../bench/child.ts'
import type { CostlyLie, LyingNodeArgument } from './lying-node.ts'

const MEGABYTE = 1_000_000
/** What fits into a page of 1000 entries. */
const BYTES = 2 * MEGABYTE

/** What follows the head of the answer. All of it is made before the first request. */
const said: Readonly<Record<CostlyLie, () => { readonly framing: string; readonly body: Buffer }>> =
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
const { framing, body } = said[lie]()
const server = createServer(async (request, response) => {
  const asked = JSON.parse((await text(request)) || '{}')
  const offset = asked.at_offset ?? request.headers['x-read-at-offset'] ?? 1
  const { socket } = request
  response.on('close', () => socket.destroy())
  // Past the server, which would put it into whole chunks.
  socket.write(
    [
      'HTTP/1.1 200 OK',
      'content-type: application/json; charset=utf-8',
      `x-ledger-offset: ${offset}`,
      `x-ledger-head: ${offset}`,
      `x-ledger-record-time: ${formatTime(clock.nowMicros())}`,
      `x-ledger-history-hash: ${'ab'.repeat(32)}`,
      `${framing}\r\n\r\n`,
    ].join('\r\n'),
  )
  socket.write(body, () => socket.end())
})
server.on('clientError', (_error, socket) => socket.destroy())
server.listen(port, '127.0.0.1', () => answer({}))
