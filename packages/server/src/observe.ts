/** What the server reports about the requests that it answers: spans, durations, log lines, and `/metrics`. */
import { held } from '@quorumscan/base'
import type { Logger, Metrics, Tracer } from '@quorumscan/runtime'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { refuseOtherMethods } from './methods.ts'
import { securityHeaders } from './security-headers.ts'

const MS_PER_SECOND = 1000
/** A scrape reads every metric, every few seconds. */
const METRICS_UNITS = 10

/** Makes a span of each request, and measures its duration. At level `debug`, logs a line for each answer. */
export function observe(
  app: FastifyInstance,
  options: {
    readonly tracer?: Tracer | null
    readonly metrics?: Metrics
    readonly logger?: Logger
  },
): void {
  const { tracer, metrics, logger } = options
  if (tracer != null)
    app.addHook('onRequest', (request, _reply, done) => {
      request.traced = tracer.start({
        kind: 'server',
        name: request.routeOptions.config.route?.operationId ?? 'other',
        parentHeaders: request.headers,
        attributes: { 'quorumscan.request_id': request.id },
      })
      done()
    })
  const durationOf = metrics?.durations({
    name: 'http_request_duration_seconds',
    help: 'Time to answer, by operation and HTTP status.',
    labels: ['operation', 'status'],
  })
  const isDebugging = logger?.isLevelEnabled('debug') === true
  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode: status, elapsedTime: ms } = reply
    const { route } = request.routeOptions.config
    request.traced?.end({ status })
    // The client decides how long a stream takes.
    if (route?.response !== 'bytes')
      durationOf?.(route?.operationId ?? 'other', String(status)).observe(ms / MS_PER_SECOND)
    if (isDebugging) {
      const { id: request_id, method, client, url } = request
      const path = url.split('?', 1)[0]
      request.log.debug({ request_id, method, path, status, ms, client: client?.key }, 'answered')
    }
    done()
  })
}

/** Counts the units that clients paid, by operation; divided by processor time, they show a price that is wrong. */
export function unitsCounter(metrics: Metrics | undefined) {
  const unitsOf = held(
    {
      owner: 'server',
      name: 'operations with units',
      kind: 'state',
      bound: 'one of each operation',
    },
    new Map<string, number>(),
  )
  metrics?.sampled('counter', {
    name: 'http_request_units_total',
    help: 'Units of work that clients paid for, before and afterwards, by operation.',
    labels: ['operation'],
    read: () => [...unitsOf].map(([operation, units]) => [[operation], units] as const),
  })
  return (operation: string, units: number): void => {
    unitsOf.set(operation, (unitsOf.get(operation) ?? 0) + units)
  }
}

/**
 * Serves `/metrics`.
 *
 * Not in the specification: it is in no route table. It is for the operator's Prometheus, and no client should
 * be generated from it. Every client of the port may read it, as `/status`.
 */
export function serveMetrics(app: FastifyInstance, metrics: Metrics): void {
  app.get('/metrics', async (request, reply) => {
    request.client.charge(METRICS_UNITS - 1)
    const { contentType, text } = await metrics.expose()
    return reply
      .headers(securityHeaders)
      .type(contentType)
      .header('cache-control', 'no-store')
      .send(text)
  })
  refuseOtherMethods(app, '/metrics', ['GET'])
}

/**
 * One logger for all requests. Fastify makes a child of its logger for each request, which costs more than to route it,
 * and hardly any request logs a line: lines name their request themselves (`request_id`).
 */
export function withoutChildren(logger: Logger): FastifyBaseLogger {
  // Fastify makes one child at the start, with its serializers.
  const child: Logger['child'] = (...own) => {
    const shared = logger.child(...own)
    return Object.assign(shared, { child: () => shared })
  }
  return Object.assign(Object.create(logger) as Logger, { child }) as FastifyBaseLogger
}
