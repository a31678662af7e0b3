/**
 * Streams of the ledger interface over WebSocket (D-28, docs/upstream.md §L3.6): the token comes
 * in `Authorization` or in a sub-protocol and is checked before there is a socket (400, 401, 403); errors are
 * the interface's own, and as a frame always of the JSON form.
 */
import type { IncomingMessage } from 'node:http'
import { LedgerDecodeError, LedgerError } from '@quorumscan/errors'
import { traceIdOf } from '@quorumscan/runtime'
import {
  createWorkMeter,
  type Frames,
  givenRequestId,
  type OpenStream,
  parseJsonWithBigInts,
  type SocketDialect,
} from '@quorumscan/server'
import type { TSchema } from 'typebox'
import type { Caller, LedgerAuthenticate } from '../callers.ts'
import { TEXT_TYPE, toLedgerRefusal } from './answers.ts'
import { compileDecoder } from './decode.ts'
import { LEDGER_VALUES_MAX } from './mount.ts'

/** D-28. */
const FRAME_BYTES_MAX = 1024 * 1024
/** Sockets of all clients, some 30 kB each. Callers are authenticated, and users share the sockets. */
const LIMITS = {
  pool: 'WebSockets of /v2',
  max: 4_096,
  perClientMax: 4_096,
  perNetworkMax: 4_096,
}
/** The cost of opening a socket: what it makes is charged afterwards. */
const OPENING_UNITS = 1
const PROTOCOL = 'daml.ws.auth'
const TOKEN_PREFIX = 'jwt.token.'

export type LedgerSocket = {
  readonly path: `/v2/${string}`
  /** What the first frame holds. */
  readonly request: TSchema
  /** JSON texts to be sent, a frame each. Ends or fails when the signal aborts. */
  open(input: {
    readonly request: never
    readonly caller: Caller
    readonly signal: AbortSignal
    /** Counts rows that were read, for which the client pays. */
    readonly countRows: (rows: number) => void
  }): Promise<Frames>
}

/** For `mountSockets`. */
export function ledgerSocketDialect(options: {
  readonly sockets: readonly LedgerSocket[]
  readonly authenticate: LedgerAuthenticate
  /** `participant` in the context of errors. */
  readonly participant: string
  /** The second mount point (D-3). */
  readonly prefix: string
}): SocketDialect {
  const { participant, prefix, authenticate } = options
  const refusal = (thrown: unknown, traceId: string) =>
    toLedgerRefusal(thrown, { traceId, participant })
  return {
    prefix,
    sockets: options.sockets.map((socket) => {
      const decode = compileDecoder(socket.request, 'body')
      return {
        path: socket.path,
        async open(request, { client }) {
          client.spend(OPENING_UNITS)
          const authorization = authorizationOf(request)
          const caller = await authenticate({ authorization, auth: 'user' })
          // What a stream costs is known only as it is made (D-93).
          const meter = createWorkMeter()
          const countRows = (rows: number) => {
            meter.countRows(rows)
            client.settle(meter.takeUnits())
          }
          const onMade = (bytes: number) => {
            meter.countBytes(bytes)
            client.settle(meter.takeUnits())
          }
          const stream: OpenStream = async (frame, signal) => {
            const asked = decode(parseJsonWithBigInts(frame, LEDGER_VALUES_MAX)) as never
            return await socket.open({ request: asked, caller, signal, countRows })
          }
          return { owner: caller.userId, stream, onMade }
        },
      }
    }),
    givenIdOf: (headers) => traceIdOf(headers) ?? givenRequestId(headers),
    overloaded: () => new LedgerError('SERVICE_NOT_RUNNING', 'no more streams can be opened now'),
    refusal,
    // A frame is always of the JSON form (§L3.6).
    lastFrame(thrown, requestId) {
      const { headers, body } = refusal(thrown, requestId)
      if (headers['content-type'] !== TEXT_TYPE) return body
      const message = thrown instanceof LedgerDecodeError ? thrown.message : body
      return refusal(new LedgerError('INVALID_ARGUMENT', message), requestId).body
    },
    frameBytesMax: FRAME_BYTES_MAX,
    protocol: PROTOCOL,
    limits: LIMITS,
  }
}

/** The header, or else the sub-protocol with the token, at any position of the list. */
function authorizationOf(request: IncomingMessage): string | null {
  const { authorization } = request.headers
  if (authorization !== undefined) return authorization
  const protocols = (request.headers['sec-websocket-protocol'] ?? '').split(',')
  const token = protocols.map((text) => text.trim()).find((text) => text.startsWith(TOKEN_PREFIX))
  return token === undefined ? null : `Bearer ${token.slice(TOKEN_PREFIX.length)}`
}
