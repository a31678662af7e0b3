/** Binds the scan's routes to its handlers. */
import { scanRoutes } from '@quorumscan/api'
import { buildServer, readBuildInfo, type Tracer } from '@quorumscan/http'
import type { Head } from '@quorumscan/ledger'
import { formatTime } from '@quorumscan/model'

import type { Context } from './context.ts'
import { createActivityHandlers } from './handlers/activities.ts'
import { createHealthHandlers } from './handlers/health.ts'
import { createLookupHandlers } from './handlers/lookups.ts'
import { createNetworkHandlers } from './handlers/network.ts'
import { createSigner } from './signer.ts'

/** D-3. */
const PREFIX = '/api/scan'

export function createServer(
  context: Context,
  /** The port listened on. */
  port: () => number,
  tracer: Tracer | null,
): ReturnType<typeof buildServer> {
  const { clock, genesis, genesisHash, logger, nodeName, party, replica } = context
  const signer = createSigner(context)
  return buildServer({
    routes: scanRoutes,
    handlers: {
      ...createHealthHandlers({
        replica,
        nodeName,
        build: readBuildInfo(import.meta.url),
        clock,
        port,
      }),
      ...createActivityHandlers({ reads: replica, signer }),
      ...createLookupHandlers({ reads: replica, genesisHash, signer }),
      ...createNetworkHandlers({ reads: replica, genesis, genesisHash, nodeName, party, signer }),
    },
    prefix: PREFIX,
    rateLimit: {
      unitsPerSecond: context.config.rateLimit,
      peerTokens: context.peerTokens,
    },
    logger,
    metrics: context.metrics,
    tracer,
    clock,
    head: headHeaders(replica),
  })
}

/** Of every answer and every error (D-10). */
function headHeaders(replica: Context['replica']): () => Readonly<Record<string, string>> {
  let last: { readonly head: Head; readonly headers: Readonly<Record<string, string>> } | null =
    null
  return () => {
    const head = replica.head()
    if (last?.head !== head) {
      const { offset, recordTime } = head
      const headers = {
        'x-ledger-head': String(offset),
        'x-ledger-head-time': formatTime(recordTime),
      }
      last = { head, headers }
    }
    return last.headers
  }
}
