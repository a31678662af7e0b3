/** The server of a scan node, which binds the routes to their handlers, and its start. */
import { apiDocuments, scanRoutes } from '@quorumscan/api'
import { sha256, sha256Hex } from '@quorumscan/base'
import { createCertifiedAnswers } from '@quorumscan/certifier'
import { ScanError } from '@quorumscan/errors'
import { readEntry } from '@quorumscan/ledger'
import {
  appStarter,
  buildServer,
  createHealthHandlers,
  createLongPolls,
  type HttpServer,
} from '@quorumscan/server'
import { createSnapshotHandlers } from '@quorumscan/snapshots'
import { createAppliedOutcomes, refusalIn } from './applied-outcomes.ts'
import { type Context, createContext } from './context.ts'
import { createLookupHandlers } from './handlers/name-lookups.ts'
import { createNetworkHandlers } from './handlers/network.ts'
import { createUpstreamHandlers } from './handlers/upstream-reads.ts'
import { headHeaders } from './pinned.ts'

/** Listens at once and answers at the head it has; `/readyz` reports when it has caught up. */
export const startScan = appStarter(createContext, createServer, (context, { url }) =>
  context.publishAddress(context.config.publicUrl ?? url),
)

/** @param port - Returns the port listened on. */
export function createServer(context: Context, port: () => number): HttpServer {
  const { genesis, genesisHash, log, replica } = context
  const certified = createCertifiedAnswers({ ...context, replica: replica.proofs })
  const network = { genesis, genesisHash, sha256 }
  const polls = createLongPolls()
  const outcomes = createAppliedOutcomes(replica)
  const server = buildServer({
    ...context.serving,
    routes: scanRoutes,
    handlers: {
      ...createHealthHandlers(context, {
        port,
        // Lookups continue while the node is not ready (D-10).
        assertReady: context.assertReady,
        state: context.state,
        head: () => replica.head(),
        detail() {
          const details = [context.members.ownProblem(), context.logDisk.detail()]
          return details.filter((one) => one !== null).join('; ') || null
        },
        members: context.members.list,
        memory: context.memory,
      }),
      ...createLookupHandlers({ reads: replica, certified, network }),
      ...createNetworkHandlers({ ...context, reads: replica, certified, polls }),
      ...createUpstreamHandlers({ ...context, reads: replica }),
      ...createSnapshotHandlers(context),
      async judgeEntry({ body }) {
        const { offset } = replica.head()
        const bytes = body ?? new Uint8Array()
        const known = outcomes.of(sha256Hex(bytes))
        if (known !== undefined)
          return { body: { offset, refusal: known, growth: 0, is_applied: true } }
        const decoded = readEntry(bytes, genesisHash)
        if (decoded.kind !== 'submission')
          throw new ScanError('INVALID_ARGUMENT', 'this is no entry of this network')
        const { result, growth } = await replica.judge(decoded.submission)
        return { body: { offset, refusal: refusalIn(result), growth, is_applied: false } }
      },
      readEngine: async ({ body, signal }) => ({
        headers: { 'content-type': 'application/octet-stream' },
        body: await log.readEngine(body, signal),
      }),
    },
    prefix: '/api/scan', // D-3.
    documents: { '/openapi.json': () => apiDocuments().scan },
    metrics: context.metrics,
    commonHeaders: () => headHeaders(replica.head()),
  })
  server.addHook('preClose', async () => polls.endAll())
  return server
}
