/** A Transport in virtual time: messages arrive after a latency, or never. */
import type { Transport, TransportReply, TransportRequest } from '@quorumscan/reader'
import type { SimClock } from './sim-clock.ts'

export type SimReply = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Answers a request. With null the connection stays open without an answer; an exception resets it. */
export type SimHandler = (request: TransportRequest) => Promise<SimReply | null>

export type SimNetwork = Transport & {
  /** Starts a server at a URL, or stops it with null, so that connections are refused. */
  serve(url: string, handler: SimHandler | null): void
  /** Requests sent so far, by URL. */
  readonly requestCounts: ReadonlyMap<string, number>
}

export function createSimNetwork(options: {
  readonly clock: SimClock
  /** Latency of a message to or from the URL, ms. */
  readonly latencyMs: (url: string) => number
}): SimNetwork {
  const { clock, latencyMs } = options
  const handlerByUrl = new Map<string, SimHandler>()
  const requestCounts = new Map<string, number>()

  const awaitLatency = (url: string): Promise<void> =>
    new Promise((resolve) => clock.schedule(latencyMs(url), resolve))

  const exchange = async (request: TransportRequest): Promise<TransportReply> => {
    await awaitLatency(request.url)
    const handler = handlerByUrl.get(request.url)
    if (handler === undefined) throw new Error('connection refused')
    const reply = await handler(request)
    if (reply === null) return new Promise(() => {})
    await awaitLatency(request.url)
    if (reply.body.byteLength > request.bytesMax) throw new Error('answer too large')
    if (reply.status >= 300 && reply.status < 400) throw new Error('redirect')
    return {
      status: reply.status,
      header: (name) => reply.headers[name] ?? null,
      body: new Uint8Array(reply.body),
    }
  }

  return {
    requestCounts,
    serve(url, handler) {
      if (handler === null) handlerByUrl.delete(url)
      else handlerByUrl.set(url, handler)
    },
    request: (request) => {
      requestCounts.set(request.url, (requestCounts.get(request.url) ?? 0) + 1)
      return new Promise((resolve, reject) => {
        if (request.signal.aborted) return reject(request.signal.reason)
        request.signal.addEventListener('abort', () => reject(request.signal.reason), {
          once: true,
        })
        exchange(request).then(resolve, reject)
      })
    },
  }
}
