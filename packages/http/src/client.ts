/**
 * Who sends a request, and whose budget it is counted on (D-33): the address that it comes from, or a
 * peer that shows its token. A wrong token is no error: the caller is the client that its address says.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import { type Clock, sha256Hex, utf8 } from '@quorumscan/base'
import { clientKey } from './client-key.ts'
import { isPeerToken, PEER_TOKEN_HEADER } from './peer-tokens.ts'
import { type Budget, createBudget, unlimitedBudget } from './rate-limit.ts'

/** D-33: what a peer may ask for a second. */
const PEER_UNITS_PER_SECOND = 100_000

export type RateLimit = {
  /** For each client address. */
  readonly unitsPerSecond: number
  readonly peerTokens?: readonly string[]
}

export type Client = { readonly key: string; readonly budget: Budget; readonly isPeer: boolean }

type Request = {
  readonly socket: Pick<Socket, 'remoteAddress'>
  readonly headers: IncomingHttpHeaders
}

/** Tells the client of each request. Tokens are compared by digest, so that time tells nothing of them. */
export function createClients(options: {
  readonly rateLimit: RateLimit | null
  readonly clock: Clock
}): (request: Request) => Client {
  const { rateLimit, clock } = options
  if (rateLimit === null)
    return ({ socket }) => ({
      key: clientKey(socket.remoteAddress),
      budget: unlimitedBudget,
      isPeer: false,
    })
  const { unitsPerSecond, peerTokens = [] } = rateLimit
  const budget = createBudget({ unitsPerSecond, clock })
  const peerBudget = createBudget({
    unitsPerSecond: Math.max(unitsPerSecond, PEER_UNITS_PER_SECOND),
    clock,
  })
  const digest = (token: string) => sha256Hex(utf8(token))
  const peerByDigest = new Map(peerTokens.map((token, index) => [digest(token), `peer ${index}`]))
  const clientOf = ({ socket }: Request, token: string | null): Client => {
    const peer =
      peerByDigest.size > 0 && token !== null && isPeerToken(token)
        ? peerByDigest.get(digest(token))
        : undefined
    return peer === undefined
      ? { key: clientKey(socket.remoteAddress), budget, isPeer: false }
      : { key: peer, budget: peerBudget, isPeer: true }
  }
  // The next request of a connection is nearly always of the same client.
  const lastBySocket = new WeakMap<
    Request['socket'],
    { readonly token: string | null; client: Client }
  >()
  return (request) => {
    const given = request.headers[PEER_TOKEN_HEADER]
    const token = typeof given === 'string' ? given : null
    const last = lastBySocket.get(request.socket)
    if (last !== undefined && last.token === token) return last.client
    const client = clientOf(request, token)
    lastBySocket.set(request.socket, { token, client })
    return client
  }
}
