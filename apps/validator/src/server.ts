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
import type { Users } from '@quorumscan/users'
import { type Principal, walletHandlers } from '@quorumscan/wallet'
import { healthHandlers } from './health.ts'
import { openValidator, type ValidatorParts } from './parts.ts'

/** The path prefix of upstream's validators (D-3). */
const PREFIX = '/api/validator'

/** Starts to listen at once; `/readyz` reports when wallets can be used. */
export const startValidator = appStarter(openValidator, createServer)

/** @param port - Returns the port listened on. */
function createServer(parts: ValidatorParts, port: () => number): HttpServer {
  const { app, config, store, follower, readers, submission } = parts
  const { verifier, payments, registration, reads, participantId, trustRule, evidence } = parts
  const { clock, random, metrics, genesis, genesisHash } = app
  const { assertLive, certifier, replica: ledger } = follower
  const { certifiedReader, reader, readFloor } = readers
  const { autoRenewals, dispatcher, growth, mayAct, now, queue, submitter } = submission
  const { users } = store

  const wallets = walletHandlers({
    ledger,
    genesis,
    submitter,
    queue,
    autoRenewals,
    payments,
    registration,
    users,
    mayAct,
    now,
    assertLive,
  })
  const proxied = scanProxyHandlers({
    genesis,
    genesisHash,
    networkName: config.networkName,
    trustRule,
    clock,
    ledger,
    certifier,
    reader,
    certifiedReader,
    readFloor,
    evidence,
  })
  const interfaceParts = {
    ledger,
    reads,
    store,
    registration,
    dispatcher,
    growth,
    genesis,
    genesisHash,
    participantId,
    issuer: parts.issuer,
    random,
    now,
    assertLive,
  }
  const mount = {
    authenticate: ledgerAuthenticator(verifier, store),
    participant: participantId,
    prefix: PREFIX,
  }
  const server = buildServer({
    ...app.serving,
    routes: validatorRoutes,
    handlers: {
      ...healthHandlers(parts, port, PREFIX),
      ...raiseByAnswers(readFloor, wallets),
      ...proxied,
    },
    prefix: PREFIX,
    documents: {
      '/openapi.json': () => apiDocuments().validator,
      // Upstream clients fetch the documents of the ledger interface from these paths.
      '/docs/openapi': () => apiDocuments().ledger,
      '/docs/asyncapi': () => apiDocuments().asyncapi,
    },
    authenticate: authenticator(verifier, users),
    metrics,
  })
  mountLedger(server, {
    ...mount,
    routes: ledgerRoutes,
    handlers: ledgerHandlers(interfaceParts),
    refused: refusedLedgerOperations,
    headers: () => ({ 'x-ledger-offset': String(readFloor.raiseToVisible()) }),
  })
  const sockets = ledgerSockets(interfaceParts).map((socket) => raiseByFrames(readFloor, socket))
  mountSockets(server, {
    dialects: [
      ledgerSocketDialect({ ...mount, sockets }),
      apiSocketDialect({
        sockets: scanProxySockets({ feed: reads.feed, clock }),
        prefix: PREFIX,
      }),
    ],
    clock,
  })
  return server
}

/** D-32: the token names the user, the user store has its rights. */
function authenticator(
  verifier: ValidatorParts['verifier'],
  users: Pick<Users, 'get'>,
): Authenticate<Principal> {
  return async ({ authorization, auth }) => {
    const userId = await verifier.verify(bearerToken(authorization ?? undefined))
    if (auth === 'admin') {
      const record = await users.get(userId)
      assertAdmin(record?.rights ?? [])
      if (record?.user.isDeactivated === true)
        throw new ScanError('PERMISSION_DENIED', 'The user is deactivated.')
    }
    return { userId }
  }
}
