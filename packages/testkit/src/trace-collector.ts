/** A trace collector for tests. It stores the OTLP requests (JSON over HTTP) that it receives. */
import { serve } from './serve.ts'

export type CollectedSpan = {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  /** 2: server, 3: client, 5: consumer of a queue. */
  readonly kind: number
  /** 2: an error. */
  readonly status: { readonly code?: number }
  readonly attributes: readonly { readonly key: string; readonly value: object }[]
}

export type TraceCollector = AsyncDisposable & {
  /** The value of `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly endpoint: string
  /** Bodies of the requests that it received, in order. */
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
