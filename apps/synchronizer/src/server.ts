/** Binds the synchronizer's routes to what answers them. */
import { apiDocuments, synchronizerRoutes } from '@quorumscan/api'
import { ScanError } from '@quorumscan/errors'
import { buildServer, createHealthHandlers, type HttpServer, type Tracer } from '@quorumscan/http'
import type { LogWriter } from '@quorumscan/log'
import type { Context } from './context.ts'

export function createServer(
  context: Context,
  /** `port` is the one listened on. */
  { port, tracer }: { readonly port: () => number; readonly tracer: Tracer | null },
): HttpServer {
  const { admission, chain, clock, clocks, feed, logger, writer } = context
  const server = buildServer({
    routes: synchronizerRoutes,
    handlers: {
      ...createHealthHandlers({
        name: context.name,
        moduleUrl: import.meta.url,
        clock,
        clocks,
        port,
        assertReady: () => {
          assertReady(writer)
          context.disk.assertRoom()
        },
        state: () => stateOf(writer),
        head: writer.head,
        detail: () => {
          const sentences = [writer.refusal()?.message, chain.detail()].filter((one) => one != null)
          return sentences.length === 0 ? null : sentences.join(' ')
        },
      }),
      submitEntry: async ({ body, client }) => {
        // A request of no bytes has no body at all.
        await admission.submit(body ?? new Uint8Array(), {
          client: client.isPeer ? client.key : client.network,
          isPeer: client.isPeer,
        })
        return { body: { accepted: true as const } }
      },
      followLog: async ({ query, client, signal }) => {
        if (!client.isPeer)
          throw new ScanError('UNAUTHENTICATED', 'the log is for peers, who show their token')
        const stream = await feed.open({ from: query.from, peer: client.key, signal })
        return { headers: { 'content-type': 'application/octet-stream' }, body: stream }
      },
    },
    prefix: null,
    documents: { '/openapi.json': () => apiDocuments().synchronizer },
    rateLimit: { unitsPerSecond: context.config.rateLimit, peerTokens: context.peerTokens },
    logger,
    metrics: context.metrics,
    tracer,
    clock,
  })
  // Else closing would wait for the streams, which never end by themselves.
  server.addHook('preClose', () => feed[Symbol.asyncDispose]())
  return server
}

/** @throws {ScanError} Why nothing is appended. */
function assertReady(writer: Pick<LogWriter, 'state' | 'refusal'>): void {
  const state = writer.state()
  const refusal = writer.refusal()
  if (state === 'ready' && refusal !== null) throw refusal
  if (state === 'ready') return
  if (state === 'unavailable')
    throw new ScanError('DEPENDENCY_UNAVAILABLE', "the log's Redis is not available", {
      retryAfterSeconds: 1,
    })
  throw new ScanError('NOT_READY', 'the synchronizer is stopping', { details: { state } })
}

function stateOf(writer: Pick<LogWriter, 'state' | 'refusal'>): string {
  const state = writer.state()
  if (state !== 'ready') return state
  return writer.refusal() === null ? 'live' : 'paused'
}
