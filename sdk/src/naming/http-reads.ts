/** The requests of a resolver over HTTP, and the form of its answers (draft of 2026-08-29). */

import { BodyTooLargeError, readAtMost } from '@quorumscan/reader'
import { membersOf } from '@quorumscan/verifier'
import { failure, invalidArgument, isQuorumscanError, transient } from '../errors.ts'
import { fetchFailed } from '../http/http-failures.ts'
import { isResponse } from '../http/http-request.ts'
import type { Clock } from '../platform/clock.ts'
import { withDeadline } from '../platform/deadline.ts'
import { parseJson } from '../platform/parse-json.ts'
import { isParty } from '../platform/party.ts'
import { utcOf } from '../platform/times.ts'
import { parseFqpn } from './fqpn.ts'
import type { PartyResolver, ResolverAnswer, ResolverRead } from './party-resolver.ts'

/** A body beyond it is refused; a result has a few hundred bytes. */
const BODY_BYTES_MAX = 65_536
/** Names of a party that are checked forward, at most. */
const REVERSE_NAMES_MAX = 8
const DISPLAY_NAME_LENGTH_MAX = 200
/** The longest that one request takes, in ms. The deadline of the call bounds it, too. */
const REQUEST_MS_MAX = 5_000

/** The answers of the server at `url`, which must be of the naming system `id` and of the network that is read. */
export function createHttpReads({
  id,
  url,
  clock,
  fetch: send,
}: {
  readonly id: string
  readonly url: string
  readonly clock: Clock
  readonly fetch: typeof globalThis.fetch
}): {
  /** null: the server does not have the name. */
  resolve(name: string, read: ResolverRead): Promise<ResolverAnswer | null>
  readonly reverse: PartyResolver['reverse']
} {
  /** undefined: the server does not have it. */
  const get = (path: string, query: Record<string, string>, read: ResolverRead) => {
    const timeoutMs = Math.min(read.timeoutMs, REQUEST_MS_MAX)
    const bound = { clock, timeoutMs, signal: read.signal, what: `${url}${path}` }
    return withDeadline(bound, async (signal): Promise<unknown> => {
      const { status, isRedirect, body } = await exchange(
        `${url}${path}?${new URLSearchParams(query)}`,
        signal,
      )
      if (isRedirect) throw unusable('a redirect, which is not followed')
      if (status === 404) return undefined
      if (status !== 200) throw unusable(`status ${status}`, true)
      const value = parseJson(new TextDecoder().decode(body))
      if (value === undefined) throw unusable('a body that is not JSON')
      return value
    })
  }

  const exchange = async (address: string, signal: AbortSignal) => {
    try {
      const response = await send(address, {
        signal,
        headers: { accept: 'application/json' },
        redirect: 'manual', // Cloudflare Workers refuse 'error'.
        credentials: 'omit',
      })
      if (!isResponse(response)) throw invalidArgument('it returned no Response')
      const { type, status } = response
      const isRedirect = type === 'opaqueredirect' || (status >= 300 && status < 400)
      return {
        status,
        isRedirect,
        body: await readAtMost(response, { bytesMax: BODY_BYTES_MAX, signal }),
      }
    } catch (cause) {
      signal.throwIfAborted()
      if (isQuorumscanError(cause)) throw fetchFailed({ method: 'GET', path: address }, cause)
      if (cause instanceof BodyTooLargeError) throw unusable(cause.message)
      throw transient('NETWORK_ERROR', `${url} did not answer.`, { cause })
    }
  }

  const unusable = (what: string, retryable = false) => {
    const message = `${url} answered with ${what}, not with a result of a resolver.`
    return failure('INVALID_RESPONSE', message, { retryable })
  }

  /** A result in the form of the draft; another network's or another naming system's is refused. */
  const answerOf = (body: unknown, read: ResolverRead): ResolverAnswer => {
    const { fqpn, party_id: party, display_name: shown, valid_until: until } = membersOf(body)
    if (typeof fqpn !== 'string' || !isParty(party)) throw unusable('another body')
    const { network, resolver, name } = parseFqpn(fqpn)
    if (network !== read.network || resolver !== id) throw unusable(`a result of ${fqpn}`)
    if (typeof shown !== 'string' || shown.length > DISPLAY_NAME_LENGTH_MAX)
      throw unusable('another body')
    const validUntil = until === undefined || until === null ? null : utcOf(String(until))
    if (validUntil === undefined) throw unusable('another body')
    return { name, party, displayName: shown, validUntil, changed: null, receipt: null }
  }

  const resolve = async (name: string, read: ResolverRead) => {
    const body = await get('/v0/resolve', { name, network: read.network }, read)
    if (body === undefined) return null
    const answer = answerOf(body, read)
    if (answer.name.toLowerCase() !== name.toLowerCase()) throw unusable(`the name ${answer.name}`)
    return answer
  }

  return {
    resolve,
    async reverse(party, read) {
      const body = await get('/v0/reverse-resolve', { party, network: read.network }, read)
      if (body === undefined) return []
      if (!Array.isArray(body)) throw unusable('another body')
      // One row that cannot be used hides no other one.
      const forward = await Promise.allSettled(
        body
          .slice(0, REVERSE_NAMES_MAX)
          .map(async (row) => await resolve(answerOf(row, read).name, read)),
      )
      read.signal?.throwIfAborted()
      const found = forward.flatMap((one) =>
        one.status === 'fulfilled' && one.value?.party === party
          ? [{ ...one.value, basis: 'claimed' as const }]
          : [],
      )
      const failed = forward.find((one) => one.status === 'rejected')
      if (found.length === 0 && failed !== undefined) throw failed.reason
      return found
    },
  }
}
