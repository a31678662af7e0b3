/** Sends answers and errors, for every interface, with their headers; after a refusal, the connection backs off. */
import type { Readable } from 'node:stream'
import { bufferOf } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { FastifyReply } from 'fastify'
import { corsHeaders } from './cors.ts'
import { type ErrorResponse, JSON_TYPE, toErrorResponse } from './errors.ts'
import type { Failures } from './failures.ts'
import { backOffAfter } from './listener.ts'
import { securityHeaders } from './security-headers.ts'

/** Refusals because of client or load: reading on would invite the same request again. */
const LOAD_CODES: ReadonlySet<string> = new Set(['RATE_LIMITED', 'OVERLOADED'])

type Headers = Readonly<Record<string, string>>

/** The headers of every answer: it is valid at its offset, not later (D-16). The answer's own headers have precedence. */
const ALWAYS: Headers = {
  ...corsHeaders,
  ...securityHeaders,
  'cache-control': 'no-store',
}

/** Ready to send. */
type Sendable = {
  readonly status: number
  /** Without a `content-type` the body is JSON. */
  readonly headers: Headers
  readonly body: Uint8Array | string | Readable | null
}

export type Responder = ReturnType<typeof createResponder>

export function createResponder(options: {
  readonly commonHeaders: () => Headers
  readonly isClosing: () => boolean
  readonly failures: Failures
}) {
  const send = (reply: FastifyReply, { status, headers, body }: Sendable): FastifyReply => {
    // One after the other: to merge them first would cost as much as to write them.
    reply
      .code(status)
      .headers(ALWAYS)
      .header('x-request-id', reply.request.id)
      .headers(options.commonHeaders())
      .headers(headers)
    // Otherwise the client would keep the connection, and closing would wait for it.
    if (options.isClosing()) reply.header('connection', 'close')
    if (body === null) return reply.send()
    if (headers['content-type'] === undefined) reply.header('content-type', JSON_TYPE)
    return reply.send(body instanceof Uint8Array ? bufferOf(body) : body)
  }
  return {
    send,
    /**
     * Sends an error.
     *
     * @param more.headers - In addition to those of the refusal.
     * @param more.refusal - In the form of the interface. Default: that of D-6.
     */
    fail(
      reply: FastifyReply,
      thrown: unknown,
      more: { readonly headers?: Headers; readonly refusal?: ErrorResponse } = {},
    ): FastifyReply {
      const { request } = reply
      const { headers = {}, refusal = toErrorResponse(thrown, request.id) } = more
      options.failures.note(thrown, request)
      const isRefusedForLoad = thrown instanceof ScanError && LOAD_CODES.has(thrown.code)
      if (isRefusedForLoad && request.client?.isPeer === false) backOffAfter(reply.raw)
      return send(reply, { ...refusal, headers: { ...refusal.headers, ...headers } })
    },
  }
}
