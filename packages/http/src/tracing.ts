/**
 * Traces for OpenTelemetry. Nothing of it is loaded unless a process is told where to send them.
 *
 * A process makes one span for each request; the trace's id travels with requests to other processes
 * (`traceparent`, W3C), beside the request id.
 */
import type { IncomingHttpHeaders } from 'node:http'

export type TracedRequest = {
  /** Headers that a request made on behalf of this one carries. */
  readonly headers: Readonly<Record<string, string>>
  end(outcome: { readonly status: number }): void
}

export type Tracer = {
  start(request: {
    readonly name: string
    readonly requestId: string
    /** Of the caller's trace, or null. */
    readonly traceparent: string | null
  }): TracedRequest
}

export type Tracing = Tracer & AsyncDisposable

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/
/** Null where a request has none that is well-formed. */
export function traceparentOf(headers: IncomingHttpHeaders): string | null {
  const { traceparent } = headers
  return typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? traceparent : null
}

/** Of the caller's trace; null where a request has none. */
export function traceIdOf(headers: IncomingHttpHeaders): string | null {
  return TRACEPARENT.exec(traceparentOf(headers) ?? '')?.[1] ?? null
}

const STATUS_UNSET = 0
const STATUS_ERROR = 2

/**
 * Starts to send traces to the collector that the environment names, in the way of OpenTelemetry; null
 * where it names none. Disposing sends what is left.
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
  const exporter = new exporters.OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
  })
  const provider = new sdk.TracerProvider({
    resource: resources.resourceFromAttributes({ 'service.name': `quorumscan-${options.service}` }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
  })
  const tracer = provider.getTracer('quorumscan')
  const propagator = new core.W3CTraceContextPropagator()
  return {
    start({ name, requestId, traceparent }) {
      const context = propagator.extract(
        api.ROOT_CONTEXT,
        { traceparent },
        api.defaultTextMapGetter,
      )
      const span = tracer.startSpan(
        name,
        { kind: api.SpanKind.SERVER, attributes: { 'quorumscan.request_id': requestId } },
        context,
      )
      const headers: Record<string, string> = {}
      propagator.inject(api.trace.setSpan(context, span), headers, api.defaultTextMapSetter)
      return {
        headers,
        end({ status }) {
          span.setAttribute('http.response.status_code', status)
          span.setStatus({ code: status >= 500 ? STATUS_ERROR : STATUS_UNSET })
          span.end()
        },
      }
    },
    [Symbol.asyncDispose]: () => provider.shutdown(),
  }
}
