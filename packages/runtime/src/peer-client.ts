/** HTTP requests to the processes of other operators, and of the same one: bounded in time and bytes. */
import { type Clock, createSystemClock, withTimeout } from '@quorumscan/base'
import type { TransportReply, TransportRequest } from '@quorumscan/reader'
import { type Tracer, tracedTransport } from './tracing.ts'
import { createUndiciTransport, type UndiciTransportOptions } from './undici-transport.ts'

export type PeerRequest = Pick<TransportRequest, 'path' | 'bytesMax' | 'onProgress'> & {
  /** Makes it a POST of these bytes. */
  readonly body?: Uint8Array
  /** Until the whole answer is there. Default: 30 s. */
  readonly timeoutMs?: number
  /** Default: `lookup`. */
  readonly channel?: TransportRequest['channel']
  /** Default: false, as peers are configured by the operator. */
  readonly isPublicOnly?: boolean
  readonly signal?: AbortSignal
}

/** A transport limits silence alone: a peer that sends a byte now and then would take hours. */
const REPLY_MS_MAX = 30_000

const BYTES = { 'content-type': 'application/octet-stream' }

export type PeerClient = ReturnType<typeof createPeerClient>

/** Disposing closes all connections; requests in progress reject. */
export function createPeerClient(
  options: UndiciTransportOptions & {
    readonly clock?: Clock
    readonly tracer?: Tracer | null
    /** The name of the process at an address, for traces. */
    readonly nameOf?: (url: string) => string
  },
) {
  const { clock = createSystemClock(), tracer = null } = options
  const { nameOf = (url: string) => new URL(url).host } = options
  const transport = createUndiciTransport(options)
  const traced = tracedTransport(transport, tracer, nameOf)

  /** The answer, with any status. @throws {Error} If it is late or too long. Or the signal's reason. */
  const request = async (url: string, peerRequest: PeerRequest): Promise<TransportReply> => {
    const { path, bytesMax, body, timeoutMs = REPLY_MS_MAX, onProgress } = peerRequest
    const { channel = 'lookup', isPublicOnly = false } = peerRequest
    const asked = { url, path, bytesMax, onProgress, channel, isPublicOnly }
    const send = (signal: AbortSignal) =>
      traced.request({
        ...asked,
        signal,
        method: body === undefined ? 'GET' : 'POST',
        headers: { ...(body && BYTES), ...tracer?.currentHeaders() },
        body: body === undefined ? null : new Uint8Array(body),
      })
    const { signal = new AbortController().signal } = peerRequest
    return withTimeout({ clock, timeoutMs, signal }, send, () => {
      throw new Error(`no answer within ${timeoutMs} ms`)
    })
  }

  return {
    request,
    /** The body of an answer with status 200. @throws {Error} As `request`, and for another status. */
    async read(url: string, peerRequest: PeerRequest): Promise<TransportReply['body']> {
      const { status, body } = await request(url, peerRequest)
      if (status !== 200) throw new Error(`status ${status}`)
      return body
    },
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  }
}
