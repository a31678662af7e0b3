/** For tests: serves the updates of a history over HTTP and WebSocket, to any caller. */
import { ledgerRoutes, socketRoutes } from '@quorumscan/api'
import { createSystemClock } from '@quorumscan/base'
import { buildServer, mountSockets } from '@quorumscan/server'
import { startRedis } from '@quorumscan/testkit'
import { openValidatorStore } from '@quorumscan/users'
import type { Caller } from '../callers.ts'
import { createLedgerReads } from '../dependencies.ts'
import { ledgerSocketDialect } from '../http/ledger-sockets.ts'
import { mountLedger } from '../http/mount.ts'
import { openUpdates, updateHandlers } from '../updates.ts'
import type { MemoryHistory } from './memory-history.ts'

export type UpdateServer = AsyncDisposable & {
  /** Without a trailing slash. */
  readonly url: string
}

export async function startUpdateServer(
  { replica }: Pick<MemoryHistory, 'replica'>,
  options: {
    readonly caller: Caller
    readonly genesis: Parameters<typeof createLedgerReads>[0]['genesis']
    readonly genesisHash: string
  },
): Promise<UpdateServer> {
  const { caller, genesis, genesisHash } = options
  const clock = createSystemClock()
  const redis = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always'])
  const store = await openValidatorStore({ redis: { path: redis.socketPath }, genesisHash })
  // A stream ends unless the store has the rights with which it began.
  await store.users.insert({
    user: {
      id: caller.userId,
      primaryParty: null,
      isDeactivated: false,
      metadata: {},
      identityProviderId: '',
    },
    rights: caller.rights,
  })
  const reads = createLedgerReads({ replica, users: store.users, clock, genesis })
  const app = buildServer({ routes: {}, handlers: {}, prefix: null, rateLimit: null })
  const { getUpdates } = updateHandlers(reads)
  mountLedger(app, {
    routes: { getUpdates: ledgerRoutes.getUpdates },
    handlers: { getUpdates },
    authenticate: async () => caller,
    participant: 'participant::1220',
    prefix: null,
  })
  const dialect = ledgerSocketDialect({
    sockets: [
      {
        path: '/v2/updates',
        request: socketRoutes.streamUpdates.request,
        async open({ request, signal, countRows }) {
          const elements = await openUpdates(reads)(request, caller)
          return elements(await reads.guard.watch(caller, signal), { onRows: countRows })
        },
      },
    ],
    authenticate: async () => caller,
    participant: 'participant::1220',
    prefix: '/api/x',
  })
  mountSockets(app, { dialects: [dialect], clock })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    url,
    async [Symbol.asyncDispose]() {
      await app.close()
      await reads[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
      await redis[Symbol.asyncDispose]()
    },
  }
}
