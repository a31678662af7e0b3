/**
 * Streams of the `/v0` interfaces over WebSocket: public, like the routes that they stand beside (D-32), so
 * that everything is bounded by client address. Errors are those of D-6, in place of a socket and as the last
 * frame of one; so are the request id and the budget (D-33).
 */
import type { IncomingMessage } from 'node:http'
import { type Random, randomHex, systemRandom } from '@quorumscan/base'
import { ScanError, toErrorBody } from '@quorumscan/errors'
import type { FastifyInstance } from 'fastify'
import type { TSchema } from 'typebox'
import { parseJson } from '../body-parser.ts'
import { errorHeaders, toScanError } from '../errors.ts'
import { givenRequestId, REQUEST_ID_BYTES } from '../request-id.ts'
import { compileCheck } from '../validation.ts'
import type { Frames, Refusal, SocketDialect } from './dialect.ts'

/** The longest first frame has some 200 bytes. */
const FRAME_BYTES_MAX = 16 * 1024
/** Of all clients, who are unknown: 30 MB, and a quarter of what the ledger interface may have. */
const SOCKETS_MAX = 1024
/** Of one address, behind which many users may be. */
const SOCKETS_PER_CLIENT_MAX = 64
const SOCKETS_PER_NETWORK_MAX = 128
/** Opening one, before it is known what is asked. */
const OPENING_UNITS = 1

export type ApiSocket = {
  readonly path: `/v0/${string}`
  /** What the first frame holds; unknown members pass (D-7). */
  readonly request: TSchema
  /** JSON texts to be sent, a frame each. Ends or fails when the signal aborts. */
  open(input: {
    readonly request: never
    readonly requestId: string
    /** Takes units of work off the client's budget. @throws {ScanError} RATE_LIMITED if in debt already. */
    readonly charge: (units: number) => void
    readonly signal: AbortSignal
  }): Promise<Frames>
}

/** For `mountSockets`. `app` is of `buildServer`. */
export function apiSocketDialect(
  app: FastifyInstance,
  options: {
    readonly sockets: readonly ApiSocket[]
    /** The second mount point (D-3). */
    readonly prefix: string
    readonly random?: Random
  },
): SocketDialect {
  const { prefix, random = systemRandom } = options
  const byPath = new Map(
    options.sockets.flatMap((socket) => {
      const found = { socket, check: compileCheck(socket.request, 'body') }
      return [[socket.path as string, found] as const, [`${prefix}${socket.path}`, found] as const]
    }),
  )
  const requestIdOf = ({ headers }: IncomingMessage) =>
    givenRequestId(headers) ?? randomHex(random, REQUEST_ID_BYTES)
  return {
    owns: (path) => path.startsWith('/v0/') || path.startsWith(`${prefix}/`),
    requestIdOf,
    find(path) {
      const found = byPath.get(path)
      if (found === undefined) return null
      const { socket, check } = found
      return async (request, requestId) => {
        const { admit, charge } = app.clientOf(request)
        admit(OPENING_UNITS)
        return {
          requestId,
          open: (frame, signal) => {
            const checked = check(parseJson(frame)) as never
            return socket.open({ request: checked, requestId, charge, signal })
          },
        }
      }
    },
    notFound: (request) =>
      refusalOf(
        new ScanError('ROUTE_NOT_FOUND', 'no WebSocket has this path'),
        requestIdOf(request),
      ),
    overloaded: () =>
      new ScanError('OVERLOADED', 'no more streams can be opened now', { retryAfterSeconds: 1 }),
    refusal: refusalOf,
    lastFrame: (thrown, requestId) => refusalOf(thrown, requestId).body,
    frameBytesMax: FRAME_BYTES_MAX,
    protocol: null,
    socketsMax: SOCKETS_MAX,
    socketsPerClientMax: SOCKETS_PER_CLIENT_MAX,
    socketsPerNetworkMax: SOCKETS_PER_NETWORK_MAX,
  }
}

function refusalOf(thrown: unknown, requestId: string): Refusal {
  const error = toScanError(thrown)
  return {
    status: error.spec.httpStatus,
    type: 'application/json; charset=utf-8',
    body: JSON.stringify(toErrorBody(error, requestId)),
    headers: errorHeaders(error),
  }
}
