/** The server of a synchronizer, which binds the routes to their handlers, and its start. */
import { apiDocuments, synchronizerRoutes } from '@quorumscan/api'
import { utf8 } from '@quorumscan/base'
import { appStarter, buildServer, createHealthHandlers, type HttpServer } from '@quorumscan/server'
import { openSynchronizer, type SynchronizerParts } from './parts.ts'

const BYTES = { 'content-type': 'application/octet-stream' }

/**
 * Waits for the log's Redis, then listens. Disposing answers what is in progress and commits what waits.
 *
 * @throws {LogConfigError} If Redis could lose what it acknowledged, or the key is not the genesis's.
 */
export const startSynchronizer = appStarter(openSynchronizer, createServer)

/** @param port - Returns the port listened on. */
function createServer(parts: SynchronizerParts, port: () => number): HttpServer {
  const { app, clocks, admission, room, memory, feed, log } = parts
  const { name, clock, metrics, certificates } = app
  const server = buildServer({
    ...app.serving,
    routes: synchronizerRoutes,
    handlers: {
      ...createHealthHandlers(
        { name, clock, clocks, certificates, metrics },
        {
          port,
          assertReady: () => {
            log.assertReady()
            room.assertRoom({ adds: true })
          },
          state: log.state,
          head: log.head,
          detail: log.detail,
          ordering: log.ordering,
          memory,
        },
      ),
      submitEntry: async ({ body, client }) => {
        // A request of no bytes has no body at all.
        await admission.submit(body ?? new Uint8Array(), {
          client: client.isPeer ? client.key : client.network,
          isPeer: client.isPeer,
        })
        return { body: { accepted: true as const } }
      },
      listOrderingEvidence: async () => ({
        body: utf8(JSON.stringify({ evidence: log.evidence() })),
      }),
      readEngine: async ({ body }) => ({
        headers: BYTES,
        body: await log.answerRead(body ?? new Uint8Array()),
      }),
      followLog: async ({ query, client, signal }) => {
        const peer = { peer: client.key, isAdmitted: () => client.isPeer }
        const stream = await feed.open({ from: query.from, ...peer, signal })
        return { headers: BYTES, body: stream }
      },
    },
    prefix: null,
    documents: { '/openapi.json': () => apiDocuments().synchronizer },
    metrics,
  })
  // Else closing would wait for the streams, which never end by themselves.
  server.addHook('preClose', () => feed[Symbol.asyncDispose]())
  return server
}
