/**
 * Streams of the ledger interface over WebSocket (D-28, docs/upstream.md §L3.6): the token comes
 * in `Authorization` or in a sub-protocol and is checked before there is a socket (400, 401, 403); errors are
 * the interface's own, and as a frame always of the JSON form.
 */
import type { IncomingMessage } from 'node:http'
import { LedgerDecodeError, LedgerError } from '@quorumscan/errors'
import type { TSchema } from 'typebox'
import { parseJson } from '../body-parser.ts'
import type { Frames, SocketDialect } from '../sockets/dialect.ts'
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
}): SocketDialect {
  const { participant } = options
  const byPath = new Map(
    options.sockets.map((socket) => [
      socket.path as string,
      { socket, decode: compileDecoder(socket.request, 'body') },
    ]),
  )
  const refusal: SocketDialect['refusal'] = (thrown) =>
    toLedgerFailure(thrown, { traceId: '', participant })
  const invalidRequest = (message: string): string =>
    refusal(new LedgerError('INVALID_ARGUMENT', message), null).body
  return {
    owns: (path) => path.startsWith('/v2/'),
    find(path) {
      const found = byPath.get(path)
      if (found === undefined) return null
      const { socket, decode } = found
      return async (request) => {
        const authorization = authorizationOf(request)
        const caller = await options.authenticate({ authorization, auth: 'user' })
        return {
          requestId: '',
          open: (frame, signal) =>
            socket.open({
              request: decode(parseJson(frame, LEDGER_VALUES_MAX)) as never,
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
    lastFrame(thrown) {
      if (thrown instanceof LedgerDecodeError) return invalidRequest(thrown.message)
      const { type, body } = refusal(thrown, null)
      return type === TEXT_TYPE ? invalidRequest(body) : body
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
