/** Sending answers and errors: the one place that knows what every response carries. */
import type { Readable } from 'node:stream'
import { toErrorBody } from '@quorumscan/errors'
import type { FastifyReply } from 'fastify'
import { corsHeaders } from './cors.ts'
import { errorHeaders, toScanError } from './errors.ts'
import type { Failures } from './failures.ts'
import { restAfter } from './http-server.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/** Refused for who asks, or how many do: whoever asks again at once is in no hurry to be served. */
const COMES_TOO_OFTEN: ReadonlySet<string> = new Set(['RATE_LIMITED', 'OVERLOADED'])

type Headers = Readonly<Record<string, string>>

/** Of every answer: true at its offset, not later (D-16). What an answer says itself wins. */
const ALWAYS: Headers = {
  ...corsHeaders,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

export type Responder = {
  /** `body` is ready to send, or a stream; null for none. */
  send(
    reply: FastifyReply,
    answer: { status: number; headers: Headers; body: Uint8Array | string | Readable | null },
  ): FastifyReply
  /** The body of D-6; whatever was thrown. */
  sendError(reply: FastifyReply, thrown: unknown, headers?: Headers): FastifyReply
}

export function createResponder(options: {
  readonly head: () => Headers
  readonly isClosing: () => boolean
  readonly failures: Failures
}): Responder {
  const send: Responder['send'] = (reply, answer) => {
    // One after the other: putting them together first would cost as much as writing them.
    reply
      .code(answer.status)
      .headers(ALWAYS)
      .header('x-request-id', reply.request.id)
      .headers(options.head())
      .headers(answer.headers)
    // Else the client would keep the connection, and closing would wait for it.
    if (options.isClosing()) reply.header('connection', 'close')
    if (answer.body === null) return reply.send()
    return reply
      .header('content-type', answer.headers['content-type'] ?? JSON_TYPE)
      .send(answer.body instanceof Uint8Array ? bufferOf(answer.body) : answer.body)
  }
  return {
    send,
    sendError(reply, thrown, headers = {}) {
      const error = toScanError(thrown)
      options.failures.note(error, reply.request)
      if (COMES_TOO_OFTEN.has(error.code) && reply.request.client?.isPeer === false)
        restAfter(reply.raw)
      return send(reply, {
        status: error.spec.httpStatus,
        headers: { ...errorHeaders(error), ...headers },
        body: JSON.stringify(toErrorBody(error, reply.request.id)),
      })
    },
  }
}

function bufferOf(body: Uint8Array): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength)
}
