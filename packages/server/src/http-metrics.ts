/** What the server measures of itself, and where Prometheus reads it. */

import type { Metrics } from '@quorumscan/runtime'
import type { FastifyInstance } from 'fastify'

const MS_PER_SECOND = 1000
/** Answering takes a walk over all that is measured; a scraper comes every few seconds. */
const METRICS_UNITS = 10

/** Measures every answer. */
export function measureAnswers(app: FastifyInstance, metrics: Metrics): void {
  const durationOf = metrics.durations({
    name: 'http_request_duration_seconds',
    help: 'Time to answer, by operation and HTTP status.',
    labels: ['operation', 'status'],
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { route } = request.routeOptions.config
    const operation = route?.operationId ?? 'other'
    // A stream lasts as long as its client stays.
    if (route?.response !== 'bytes')
      durationOf(operation, String(reply.statusCode)).observe(reply.elapsedTime / MS_PER_SECOND)
    done()
  })
}

/**
 * Serves `/metrics`.
 *
 * Spec silent: it is in no route table. It is for the operator's Prometheus, and no client should
 * be generated from it. Whoever reaches the port may read it, as `/status`.
 */
export function serveMetrics(app: FastifyInstance, metrics: Metrics): void {
  app.get('/metrics', async (request, reply) => {
    request.client.charge(METRICS_UNITS - 1)
    const { contentType, text } = await metrics.expose()
    return reply.type(contentType).header('cache-control', 'no-store').send(text)
  })
}
