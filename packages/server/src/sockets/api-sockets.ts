/**
 * Streams of the `/v0` interfaces over WebSocket: public, as the routes next to them (D-32), hence limited by client
 * address. Errors have the form of D-6: instead of an upgrade, and as the last frame.
 */
import { ScanError } from '@quorumscan/errors'
import type { TSchema } from 'typebox'
import { parseJson } from '../body.ts'
import { toErrorResponse } from '../errors.ts'
import { givenRequestId } from '../request-id.ts'
import { requestCheck } from '../validation.ts'
import type { SocketDialect } from './mount.ts'
import type { Frames, OpenStream } from './serve.ts'

/** The longest first frame has some 200 bytes. */
const FRAME_BYTES_MAX = 16 * 1024
/** The sockets of anonymous clients: 30 MB, a quarter of the ledger interface. A whole company may share an address. */
const LIMITS = {
  pool: 'WebSockets of /v0',
  max: 1024,
  perClientMax: 64,
  perNetworkMax: 128,
}
/** The cost of opening a socket, before its first frame. */
const OPENING_UNITS = 1

export type ApiSocket = {
  readonly path: `/v0/${string}`
  /** The form of the first frame; unknown members pass (D-7). */
  readonly request: TSchema
  /** JSON texts to be sent, a frame each. Ends or fails when the signal aborts. */
  open(input: {
    readonly request: never
    readonly requestId: string
    /** Takes units of work off the client's rate budget. @throws {ScanError} RATE_LIMITED if in debt already. */
    readonly charge: (units: number) => void
    readonly signal: AbortSignal
  }): Promise<Frames>
}

/** The sockets of `/v0`, for `mountSockets`. */
export function apiSocketDialect({
  sockets,
  prefix,
}: {
  readonly sockets: readonly ApiSocket[]
  readonly prefix: string
}): SocketDialect {
  return {
    prefix,
    sockets: sockets.map((socket) => {
      const check = requestCheck(socket.request, 'body')
      return {
        path: socket.path,
        open(_request, { requestId, client }) {
          const { spend, charge, network: owner } = client
          spend(OPENING_UNITS)
          const stream: OpenStream = async (frame, signal) =>
            socket.open({ request: check(parseJson(frame)) as never, requestId, charge, signal })
          return { owner, stream }
        },
      }
    }),
    givenIdOf: givenRequestId,
    overloaded: () =>
      new ScanError('OVERLOADED', 'no more streams can be opened now', { retryAfterSeconds: 1 }),
    refusal: toErrorResponse,
    lastFrame: (thrown, requestId) => toErrorResponse(thrown, requestId).body,
    frameBytesMax: FRAME_BYTES_MAX,
    protocol: null,
    limits: LIMITS,
  }
}
