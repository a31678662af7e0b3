/** The server of a validator, which binds the routes to their handlers, and its start. */
import {
  apiDocuments,
  ledgerRoutes,
  refusedLedgerOperations,
  validatorRoutes,
} from '@quorumscan/api'
import { assertAdmin, bearerToken } from '@quorumscan/auth'
import { ScanError } from '@quorumscan/errors'
import {
  authenticator as ledgerAuthenticator,
  ledgerHandlers,
  ledgerSocketDialect,
  ledgerSockets,
  mountLedger,
} from '@quorumscan/ledger-api'
import {
  raiseByAnswers,
  raiseByFrames,
  scanProxyHandlers,
  scanProxySockets,
} from '@quorumscan/scan-proxy'
import {
  type Authenticate,
  apiSocketDialect,
  appStarter,
  buildServer,
  type HttpServer,
  mountSockets,
} from '@quorumscan/server'
import { type Principal, walletHandlers } from '@quorumscan/wallet'
import { type Context, createContext } from './context.ts'
import { healthHandlers } from './health.ts'

/** The path prefix of upstream's validators (D-3). */
const PREFIX = '/api/validator'

/** Starts to listen at once; `/readyz` reports when wallets can be used. */
export const startValidator = appStarter(createContext, createServer)

/** @param port - Returns the port listened on. */
function createServer(context: Context, port: () => number): HttpServer {
  const { clock, readFloor } = context
  const ledger = {
    authenticate: ledgerAuthenticator(context.verifier, context.store),
    participant: context.participantId,
    prefix: PREFIX,
  }
  const server = buildServer({
    ...context.serving,
    routes: validatorRoutes,
    handlers: {
      ...healthHandlers(context, port, PREFIX),
      ...raiseByAnswers(readFloor, walletHandlers(context)),
      ...scanProxyHandlers(context),
    },
    prefix: PREFIX,
    documents: {
      '/openapi.json': () => apiDocuments().validator,
      // Upstream clients fetch the documents of the ledger interface from these paths.
      '/docs/openapi': () => apiDocuments().ledger,
      '/docs/asyncapi': () => apiDocuments().asyncapi,
    },
    authenticate: authenticator(context),
    metrics: context.metrics,
  })
  mountLedger(server, {
    ...ledger,
    routes: ledgerRoutes,
    handlers: ledgerHandlers(context),
    refused: refusedLedgerOperations,
    headers: () => ({ 'x-ledger-offset': String(readFloor.raiseToVisible()) }),
  })
  const sockets = ledgerSockets(context).map((socket) => raiseByFrames(readFloor, socket))
  mountSockets(server, {
    dialects: [
      ledgerSocketDialect({ ...ledger, sockets }),
      apiSocketDialect({
        sockets: scanProxySockets({ feed: context.reads.feed, clock }),
        prefix: PREFIX,
      }),
    ],
    clock,
  })
  return server
}

/** D-32: the token names the user, the user store has its rights. */
function authenticator(context: Context): Authenticate<Principal> {
  return async ({ authorization, auth }) => {
    const userId = await context.verifier.verify(bearerToken(authorization ?? undefined))
    if (auth === 'admin') {
      const record = await context.store.users.get(userId)
      assertAdmin(record?.rights ?? [])
      if (record?.user.isDeactivated === true)
        throw new ScanError('PERMISSION_DENIED', 'The user is deactivated.')
    }
    return { userId }
  }
}
