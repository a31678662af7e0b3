/** A collector of traces of a test's own: it keeps what it is sent, OTLP over HTTP in JSON. */
import { serve } from './serve.ts'

export type CollectedSpan = {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  /** 2: of a server, 3: of a client, 5: of who takes work from a queue. */
  readonly kind: number
  /** 2: an error. */
  readonly status: { readonly code?: number }
  readonly attributes: readonly { readonly key: string; readonly value: object }[]
}

export type TraceCollector = AsyncDisposable & {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly endpoint: string
  /** Of each request that it was sent, in order. */
  readonly bodies: readonly string[]
  spans(): readonly CollectedSpan[]
}

export async function startTraceCollector(): Promise<TraceCollector> {
  const bodies: string[] = []
  const server = await serve((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      if (request.url === '/v1/traces') bodies.push(body)
      response.end('{}')
    })
  })
  type Sent = {
    readonly resourceSpans: readonly {
      readonly scopeSpans: readonly { readonly spans: readonly CollectedSpan[] }[]
    }[]
  }
  return {
    endpoint: server.url,
    bodies,
    spans: () =>
      bodies
        .flatMap((body) => (JSON.parse(body) as Sent).resourceSpans)
        .flatMap(({ scopeSpans }) => scopeSpans)
        .flatMap(({ spans }) => spans),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
