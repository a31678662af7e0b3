/**
 * What holds of connections, for clients whose requests come by those of a proxy: each client has at most as many
 * requests in hand as it could have connections, and while it is told to come again later, what it asks all the same
 * waits. The connection itself, which is of many, never does.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '@quorumscan/base'
import { LRUCache } from 'lru-cache'
import { clientKey } from './client-key.ts'
import type { HttpLimits } from './limits.ts'
import type { Origins } from './origins.ts'
import { Places } from './places.ts'

/** 100 bytes each. */
const RESTING_MAX = 100_000

export type ProxiedClients = {
  /** Takes in a request: without a place its client has too many in hand; with `rested` it begins only then. */
  enter(
    request: IncomingMessage,
    response: ServerResponse,
  ): { readonly hasPlace: boolean; readonly rested: Promise<void> | null }
  /** Its client was told to come again later. */
  noteRefused(request: IncomingMessage): void
}

export function createProxiedClients(options: {
  readonly limits: HttpLimits
  readonly addressOf: Origins['addressOf']
  readonly clock: Clock
  /** For how long whoever was refused rests, at least. */
  readonly restMs: number
  /** Resolves when the next one that comes too soon has rested. */
  readonly nextRested: () => Promise<void>
}): ProxiedClients {
  const { limits, addressOf, clock } = options
  const places = new Places({
    max: limits.connectionsMax,
    perClientMax: limits.connectionsPerClientMax,
    perNetworkMax: limits.connectionsPerNetworkMax,
    areInUse: false,
  })
  const restsUntilMs = new LRUCache<string, number>({ max: RESTING_MAX })
  return {
    enter(request, response) {
      const address = addressOf(request)
      const untilMs = restsUntilMs.get(clientKey(address)) ?? Number.NEGATIVE_INFINITY
      let isWaiting = clock.monotonicMs() < untilMs
      let begin = () => {}
      const place = places.take(address, { isIdle: () => isWaiting, leave: () => begin() })
      response.once('close', () => place?.release())
      if (place === null || !isWaiting) return { hasPlace: place !== null, rested: null }
      const rested = new Promise<void>((resolve) => {
        begin = () => {
          isWaiting = false
          resolve()
        }
        void options.nextRested().then(begin)
      })
      return { hasPlace: true, rested }
    },
    noteRefused(request) {
      restsUntilMs.set(clientKey(addressOf(request)), clock.monotonicMs() + options.restMs)
    },
  }
}
