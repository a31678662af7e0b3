/**
 * A unix socket on which the light client of this member's engine asks another member. It speaks JSON-RPC. Its requests are
 * signed and passed on.
 */

import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { membersOf } from '@quorumscan/verifier'
import { type EngineAnswer, type EngineRead, readOf } from './engine-read.ts'

/** A light client asks one thing at a time. */
const CONNECTIONS_MAX = 16
const BODY_BYTES_MAX = 16 * 1024
/** JSON-RPC. */
const INTERNAL_ERROR = -32_603

/** Listens until it is disposed of. */
export async function openLightSocket(
  path: string,
  read: (read: EngineRead) => Promise<EngineAnswer>,
): Promise<AsyncDisposable> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    let size = 0
    try {
      for await (const chunk of request) {
        size += chunk.length
        if (size > BODY_BYTES_MAX) throw new Error('the request is too large')
        chunks.push(chunk)
      }
      const answer = await answerCall(Buffer.concat(chunks).toString('utf8'), read)
      response.setHeader('content-type', 'application/json')
      response.end(answer)
    } catch {
      response.destroy() // The client closed the connection, or does not speak JSON-RPC.
    }
  })
  server.maxConnections = CONNECTIONS_MAX
  await rm(path, { force: true }) // A process that was killed leaves the socket file.
  server.listen(path)
  await once(server, 'listening')
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await server[Symbol.asyncDispose]()
    },
  }
}

/** @throws {SyntaxError} If it is not JSON. */
async function answerCall(body: string, read: (read: EngineRead) => Promise<EngineAnswer>) {
  const { id, method, params } = membersOf(JSON.parse(body))
  const asked = readOf(method, params)
  const answer: EngineAnswer =
    asked === null
      ? { refusal: 'this cannot be read from other members' }
      : await read(asked).catch((error: unknown) => ({ refusal: String(error) }))
  const result =
    'refusal' in answer
      ? { error: { code: INTERNAL_ERROR, message: 'Internal error', data: answer.refusal } }
      : { result: answer.result }
  return JSON.stringify({ jsonrpc: '2.0', id, ...result })
}
