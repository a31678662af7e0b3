/**
 * Streams of the ledger interface over WebSocket (D-28, docs/upstream.md §L3.6): the token comes
 * in `Authorization` or in a sub-protocol and is checked before there is a socket (400, 401, 403); errors are
 * the interface's own, and as a frame always of the JSON form.
 */
import type { IncomingMessage } from 'node:http'
import { type Random, randomHex, systemRandom } from '@quorumscan/base'
import { LedgerDecodeError, LedgerError } from '@quorumscan/errors'
import { traceIdOf } from '@quorumscan/runtime'
import type { Frames, SocketDialect } from '@quorumscan/server'
import { givenRequestId, parseExactJson, REQUEST_ID_BYTES } from '@quorumscan/server'
import type { TSchema } from 'typebox'
import { JSON_TYPE, TEXT_TYPE, toLedgerFailure } from './answers.ts'
import { compileDecoder } from './decode.ts'
import { LEDGER_VALUES_MAX, type LedgerAuthenticate } from './mount.ts'

/** D-28. */
const FRAME_BYTES_MAX = 1024 * 1024
/** Connections of all clients: each takes some 30 kB. Callers are known, and all other connections bounded. */
const SOCKETS_MAX = 4_096
const PROTOCOL = 'daml.ws.auth'
const TOKEN_PREFIX = 'jwt.token.'

export type LedgerSocket<Caller> = {
  readonly path: `/v2/${string}`
  /** What the first frame holds. */
  readonly request: TSchema
  /** JSON texts to be sent, a frame each. Ends or fails when the signal aborts. */
  open(input: {
    readonly request: never
    readonly caller: Caller
    readonly signal: AbortSignal
  }): Promise<Frames>
}

/** For `mountSockets`. */
export function ledgerSocketDialect<Caller>(options: {
  readonly sockets: readonly LedgerSocket<Caller>[]
  readonly authenticate: LedgerAuthenticate<Caller>
  /** `participant` in the context of errors. */
  readonly participant: string
  /** The second mount point (D-3). */
  readonly prefix: string
  readonly random?: Random
}): SocketDialect {
  const { participant, prefix, random = systemRandom } = options
  const byPath = new Map(
    options.sockets.flatMap((socket) => {
      const found = { socket, decode: compileDecoder(socket.request, 'body') }
      return [[socket.path as string, found] as const, [`${prefix}${socket.path}`, found] as const]
    }),
  )
  const refusal = (thrown: unknown, traceId: string) =>
    toLedgerFailure(thrown, { traceId, participant })
  const invalidRequest = (message: string, requestId: string): string =>
    refusal(new LedgerError('INVALID_ARGUMENT', message), requestId).body
  return {
    owns: (path) => path.startsWith('/v2/') || path.startsWith(`${prefix}/v2/`),
    requestIdOf: ({ headers }) =>
      traceIdOf(headers) ?? givenRequestId(headers) ?? randomHex(random, REQUEST_ID_BYTES),
    find(path) {
      const found = byPath.get(path)
      if (found === undefined) return null
      const { socket, decode } = found
      return async (request, requestId) => {
        const authorization = authorizationOf(request)
        const caller = await options.authenticate({ authorization, auth: 'user' })
        return {
          requestId,
          open: (frame, signal) =>
            socket.open({
              request: decode(parseExactJson(frame, LEDGER_VALUES_MAX)) as never,
              caller,
              signal,
            }),
        }
      }
    },
    notFound(request) {
      const errors = [`HttpMethod(${request.method}), uri: ${request.url}`]
      const body = JSON.stringify({ errors, status: 404, ledgerApiError: null })
      return { status: 404, type: JSON_TYPE, body, headers: {} }
    },
    overloaded: () => new LedgerError('SERVICE_NOT_RUNNING', 'no more streams can be opened now'),
    refusal,
    // A frame is always of the JSON form (§L3.6).
    lastFrame(thrown, requestId) {
      if (thrown instanceof LedgerDecodeError) return invalidRequest(thrown.message, requestId)
      const { type, body } = refusal(thrown, requestId)
      return type === TEXT_TYPE ? invalidRequest(body, requestId) : body
    },
    frameBytesMax: FRAME_BYTES_MAX,
    protocol: PROTOCOL,
    socketsMax: SOCKETS_MAX,
    socketsPerClientMax: SOCKETS_MAX,
    socketsPerNetworkMax: SOCKETS_MAX,
  }
}

/** The header wins; else the sub-protocol with the token, in whichever place. */
function authorizationOf(request: IncomingMessage): string | null {
  const { authorization } = request.headers
  if (authorization !== undefined) return authorization
  const protocols = (request.headers['sec-websocket-protocol'] ?? '').split(',')
  const token = protocols.map((text) => text.trim()).find((text) => text.startsWith(TOKEN_PREFIX))
  return token === undefined ? null : `Bearer ${token.slice(TOKEN_PREFIX.length)}`
}
