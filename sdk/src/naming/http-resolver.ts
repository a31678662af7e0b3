/**
 * A resolver over HTTP: `GET /v0/resolve` and `GET /v0/reverse-resolve` of the draft "Canton Party Name Resolution
 * Standard" (2026-08-29). The draft does not define how an answer is checked: it is a claim of that server.
 */
import { isAuthenticated } from '@quorumscan/reader'
import { type Clock, systemClock } from '../platform/clock.ts'
import { loadPart } from '../platform/load-part.ts'
import { anything, assertOptions, isClock, isFunction } from '../platform/options.ts'
import { assertUrl } from '../platform/urls.ts'
import {
  isSkipped,
  type PartyResolver,
  type PartyResolverOptions,
  RESOLVER_CHECKS,
} from './party-resolver.ts'

/**
 * A resolver of which nothing is checked: the basis of its answers is `claimed`.
 *
 * @param options.url - https, or http on this machine.
 * @example httpResolver({ id: 'dns', url: 'https://resolver.example', skip: [/\.ns$/] })
 * @throws {QuorumscanError} INVALID_ARGUMENT if the url is invalid.
 */
export function httpResolver(
  options: PartyResolverOptions & {
    readonly url: string
    /** Default: the platform's. */
    readonly fetch?: typeof globalThis.fetch
    readonly clock?: Clock
  },
): PartyResolver {
  assertOptions('httpResolver', options, {
    ...RESOLVER_CHECKS,
    url: anything,
    fetch: isFunction,
    clock: isClock,
  })
  const { id, clock = systemClock } = options
  assertUrl('url', options.url, isAuthenticated)
  const url = options.url.replace(/\/+$/, '')
  const send = options.fetch ?? ((input, init) => globalThis.fetch(input, init))
  // Loaded with the first request, so that a page that never uses such a resolver does not load it.
  const reads = async () => {
    const { createHttpReads } = await loadPart(() => import('./http-reads.ts'))
    return createHttpReads({ id, url, clock, fetch: send })
  }
  return {
    id,
    basis: 'claimed',
    accepts: (name) => !isSkipped(name, options),
    resolve: async (name, read) => ({
      basis: 'claimed',
      found: await (await reads()).resolve(name, read),
    }),
    reverse: async (party, read) => (await reads()).reverse(party, read),
  }
}
