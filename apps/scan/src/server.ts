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
import { createLookupHandlers } from './handlers/name-lookups.ts'
import { createNetworkHandlers } from './handlers/network.ts'
import { createUpstreamHandlers } from './handlers/upstream-reads.ts'
import { openScan, type ScanParts } from './parts.ts'
import { headHeaders } from './pinned.ts'

/** Listens at once and answers at the head it has; `/readyz` reports when it has caught up. */
export const startScan = appStarter(openScan, createServer, (parts, { url }) =>
  parts.publishAddress(parts.config.publicUrl ?? url),
)

/** @param port - Returns the port listened on. */
export function createServer(parts: ScanParts, port: () => number): HttpServer {
  const { app, follower, party } = parts
  const { name, clock, metrics, certificates, genesis, genesisHash } = app
  const { certifier, clocks, log, logDisk, members, replica, snapshots } = follower
  const certified = createCertifiedAnswers({ genesis, certifier, replica: replica.proofs })
  const network = { genesis, genesisHash, sha256 }
  const polls = createLongPolls()
  const outcomes = createAppliedOutcomes(replica)
  const server = buildServer({
    ...app.serving,
    routes: scanRoutes,
    handlers: {
      ...createHealthHandlers(
        { name, clock, clocks, certificates, metrics },
        {
          port,
          // Lookups continue while the node is not ready (D-10).
          assertReady: follower.assertReady,
          state: follower.state,
          head: () => replica.head(),
          detail() {
            const details = [members.ownProblem(), logDisk.detail()]
            return details.filter((one) => one !== null).join('; ') || null
          },
          members: members.list,
          memory: follower.memory,
        },
      ),
      ...createLookupHandlers({ reads: replica, certified, network }),
      ...createNetworkHandlers({
        reads: replica,
        genesis,
        name,
        party,
        certified,
        certifier,
        polls,
      }),
      ...createUpstreamHandlers({ reads: replica, genesis }),
      ...createSnapshotHandlers({ snapshots }),
      async judgeEntry({ body }) {
        const { offset } = replica.head()
        const bytes = body ?? new Uint8Array()
        const known = outcomes.of(sha256Hex(bytes))
        if (known !== undefined)
          return { body: { offset, refusal: known, growth: 0, is_applied: true } }
        const decoded = readEntry(bytes, genesisHash)
        if (decoded.kind !== 'submission')
          throw new ScanError('INVALID_ARGUMENT', 'this is no entry of this network')
        const { result, growth } = await replica.dryRun(decoded.submission)
        return { body: { offset, refusal: refusalIn(result), growth, is_applied: false } }
      },
      readEngine: async ({ body, signal }) => ({
        headers: { 'content-type': 'application/octet-stream' },
        body: await log.readEngine(body, signal),
      }),
    },
    prefix: '/api/scan', // D-3.
    documents: { '/openapi.json': () => apiDocuments().scan },
    metrics,
    commonHeaders: () => headHeaders(replica.head()),
  })
  server.addHook('preClose', async () => polls.endAll())
  return server
}
