/**
 * Traces for OpenTelemetry. Without a collector, hardly any of its code is loaded.
 *
 * A process makes a span of each request that it answers, of each job, and of each request that it sends on their behalf.
 * Those requests carry the id of the trace (`traceparent`, W3C), in addition to the request id.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingHttpHeaders } from 'node:http'
import type { SpanKind } from '@opentelemetry/api'
import { parseTraceParent } from '@opentelemetry/core'
import type { Transport } from '@quorumscan/reader'

export type Span = {
  /** Headers that a request made on behalf of this one carries. */
  readonly headers: Readonly<Record<string, string>>
  /** Code that runs in it gets its headers by `currentHeaders`. */
  run<T>(work: () => T): T
  end(outcome: { readonly status: number } | { readonly error: unknown } | 'done'): void
}

export type Tracer = {
  /** `parentHeaders`: headers that name the parent trace; without a name, a new trace begins. */
  start(span: {
    readonly kind: 'server' | 'client' | 'job'
    readonly name: string
    readonly parentHeaders?: Readonly<Record<string, unknown>>
    readonly attributes: Readonly<Record<string, string | number>>
  }): Span
  /** Headers of the current span; empty outside of a span. */
  currentHeaders(): Span['headers']
}

export type Tracing = Tracer & AsyncDisposable

/** The trace context of a request; null if it is missing or malformed. */
export function traceparentOf(headers: IncomingHttpHeaders): string | null {
  const trace = traceOf(headers)
  if (trace === null) return null
  // Version 00 for all versions: the additions of later ones are ignored.
  const flags = trace.traceFlags.toString(16).padStart(2, '0')
  return `00-${trace.traceId}-${trace.spanId}-${flags}`
}

/** The id of the caller's trace; null if a request has none. */
export function traceIdOf(headers: IncomingHttpHeaders): string | null {
  return traceOf(headers)?.traceId ?? null
}

function traceOf({ traceparent }: IncomingHttpHeaders) {
  return typeof traceparent === 'string' ? parseTraceParent(traceparent) : null
}

/** Does the work in a span of its own, if there is a tracer. */
export async function traced<T>(
  tracer: Tracer | null,
  span: Parameters<Tracer['start']>[0],
  work: (headers: Span['headers']) => Promise<T>,
  outcomeOf: (result: T) => Parameters<Span['end']>[0] = () => 'done',
): Promise<T> {
  if (tracer === null) return work({})
  const started = tracer.start(span)
  try {
    const result = await started.run(() => work(started.headers))
    started.end(outcomeOf(result))
    return result
  } catch (error) {
    started.end({ error })
    throw error
  }
}

/** Makes a span of each request whose headers name a trace; periodic requests name none. */
export function tracedTransport(
  transport: Transport,
  tracer: Tracer | null,
  /** The name of the process at an address. */
  nameOf: (url: string) => string,
): Transport {
  if (tracer === null) return transport
  return {
    request(input) {
      const { method, url, path, headers } = input
      if (headers['traceparent'] === undefined) return transport.request(input)
      const { hostname, port } = new URL(url)
      const span = {
        kind: 'client' as const,
        name: `${method} ${nameOf(url)}`,
        parentHeaders: headers,
        attributes: {
          'http.request.method': method,
          'server.address': hostname,
          'server.port': Number(port),
          // Without the query.
          'url.path': path.split('?', 1)[0] ?? '',
        },
      }
      const send = (own: Span['headers']) =>
        transport.request({ ...input, headers: { ...headers, ...own } })
      return traced(tracer, span, send, ({ status }) => ({ status }))
    },
  }
}

const STATUS_UNSET = 0
const STATUS_ERROR = 2

/**
 * Starts to send traces to the collector that the environment names, as OpenTelemetry defines; null without one.
 * Disposing sends the remaining spans.
 */
export async function startTracing(options: {
  /** The process, such as `sv-1`. */
  readonly service: string
  /** `OTEL_EXPORTER_OTLP_ENDPOINT`; without it nothing is traced. */
  readonly endpoint: string | null
}): Promise<Tracing | null> {
  const { endpoint } = options
  if (endpoint === null) return null
  const [api, core, exporters, resources, sdk] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/core'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace'),
  ])
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`
  const exporter = new exporters.OTLPTraceExporter({ url })
  const provider = new sdk.TracerProvider({
    resource: resources.resourceFromAttributes({ 'service.name': `quorumscan-${options.service}` }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
  })
  const tracer = provider.getTracer('quorumscan')
  const propagator = new core.W3CTraceContextPropagator()
  const current = new AsyncLocalStorage<Span['headers']>()
  const kinds: Readonly<Record<'server' | 'client' | 'job', SpanKind>> = {
    server: api.SpanKind.SERVER,
    client: api.SpanKind.CLIENT,
    job: api.SpanKind.CONSUMER,
  }
  return {
    currentHeaders: () => current.getStore() ?? {},
    start({ kind, name, parentHeaders = {}, attributes }) {
      const parent = propagator.extract(api.ROOT_CONTEXT, parentHeaders, api.defaultTextMapGetter)
      const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, parent)
      const context = api.trace.setSpan(parent, span)
      const headers: Record<string, string> = {}
      propagator.inject(context, headers, api.defaultTextMapSetter)
      return {
        headers,
        run: (work) => current.run(headers, work),
        end(outcome) {
          if (outcome === 'done') return span.end()
          const isError = 'error' in outcome || outcome.status >= 500
          if ('status' in outcome) span.setAttribute('http.response.status_code', outcome.status)
          else span.setAttribute('error.type', nameOfError(outcome.error))
          span.setStatus({ code: isError ? STATUS_ERROR : STATUS_UNSET })
          span.end()
        },
      }
    },
    [Symbol.asyncDispose]: () => provider.shutdown(),
  }
}

/** The code, or the name; not the message, which may contain input of a client. */
function nameOfError(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error ? String(error.code) : error.name
}
