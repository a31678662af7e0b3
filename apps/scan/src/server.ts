/** Binds the scan's routes to its handlers. */
import { apiDocuments, scanRoutes } from '@quorumscan/api'
import { sha256 } from '@quorumscan/base'
import { createCertifiedAnswers } from '@quorumscan/certifier'
import { stateDiverged } from '@quorumscan/replica'
import { assertFollowing } from '@quorumscan/runtime'
import { buildServer, createHealthHandlers, type HttpServer } from '@quorumscan/server'
import { createSnapshotHandlers } from '@quorumscan/snapshots'
import type { Context } from './context.ts'
import { createActivityHandlers } from './handlers/activities.ts'
import { createLookupHandlers } from './handlers/lookups.ts'
import { createNetworkHandlers } from './handlers/network.ts'
import { headHeaders } from './head-headers.ts'

/** D-3. */
const PREFIX = '/api/scan'

export function createServer(
  context: Context,
  /** `port` is the one listened on. */
  { port }: { readonly port: () => number },
): HttpServer {
  const { certifier, clock, clocks, genesis, genesisHash, log, logger, nodeName, party, replica } =
    context
  const certified = createCertifiedAnswers({ genesis, certifier, replica: replica.proofs })
  return buildServer({
    routes: scanRoutes,
    handlers: {
      ...createHealthHandlers({
        name: nodeName,
        moduleUrl: import.meta.url,
        clock,
        clocks,
        port,
        assertReady: () => {
          clocks.assertUsable()
          assertReady(replica)
          certifier.assertAgrees()
        },
        state: () => replica.state(),
        head: () => replica.head(),
        detail: context.logRoom.detail,
      }),
      ...createActivityHandlers({ reads: replica, genesis, certified }),
      ...createLookupHandlers({
        reads: replica,
        genesisHash,
        certified,
        network: { genesis, genesisHash, sha256 },
      }),
      ...createNetworkHandlers({
        reads: replica,
        genesis,
        genesisHash,
        nodeName,
        party,
        certified,
        certifier,
      }),
      ...createSnapshotHandlers(context),
      readEngine: async ({ body, signal }) => ({
        headers: { 'content-type': 'application/octet-stream' },
        body: await log.readEngine(body, signal),
      }),
    },
    prefix: PREFIX,
    documents: { '/openapi.json': () => apiDocuments().scan },
    rateLimit: {
      unitsPerSecond: context.config.rateLimit,
      peerTokens: context.peerTokens,
    },
    logger,
    metrics: context.metrics,
    ...context.serving,
    tracer: context.tracer,
    clock,
    head: headHeaders(() => replica.head()),
  })
}

/** @throws {ScanError} Why the node does not do all its work. Lookups go on while it is not ready (D-10). */
function assertReady(replica: Context['replica']): void {
  const diverged = replica.proofs.diverged()
  if (diverged !== null) throw stateDiverged(diverged)
  assertFollowing('node', replica)
}
