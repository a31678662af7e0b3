/**
 * A resolver over HTTP: `GET /v0/resolve` and `GET /v0/reverse-resolve` of the draft "Canton Party Name Resolution
 * Standard" (2026-08-29). The draft does not say how an answer is checked: it is a claim of that server.
 */
import { failure, invalidArgument } from '../errors.ts'
import { type Clock, systemClock, utcOf } from '../platform/clock.ts'
import { withDeadline } from '../platform/deadline.ts'
import { isParty } from '../platform/values.ts'
import { parseFqpn } from './fqpn.ts'
import {
  isSkipped,
  type PartyResolver,
  type PartyResolverOptions,
  type ResolverAnswer,
  type ResolverRead,
} from './party-resolver.ts'

/** A body beyond it is refused; a result has a few hundred bytes. */
const BODY_BYTES_MAX = 65_536
/** Names of a party that are checked forward, at most. */
const REVERSE_NAMES_MAX = 8
const DISPLAY_NAME_LENGTH_MAX = 200
/** The longest that one request takes, in ms. The deadline of the call bounds it, too. */
const REQUEST_MS_MAX = 5_000

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
  const { id, clock = systemClock } = options
  const url = String(options.url).replace(/\/+$/, '')
  if (
    !/^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:|$|\/))/.test(url) ||
    !URL.canParse(url)
  )
    throw invalidArgument(`The url of a resolver is https: not ${url}.`)
  const send = options.fetch ?? ((input, init) => globalThis.fetch(input, init))

  /** undefined: the server does not have it. */
  const get = (path: string, query: Record<string, string>, read: ResolverRead): Promise<unknown> =>
    withDeadline(
      {
        clock,
        timeoutMs: Math.min(read.timeoutMs, REQUEST_MS_MAX),
        signal: read.signal,
        what: `${url}${path}`,
      },
      async (signal) => {
        const response = await send(`${url}${path}?${new URLSearchParams(query)}`, {
          signal,
          headers: { accept: 'application/json' },
          redirect: 'error',
          credentials: 'omit',
        }).catch((cause: unknown) => {
          throw failure('NETWORK_ERROR', `${url} did not answer.`, { retryable: true, cause })
        })
        if (response.status === 404) return undefined
        if (response.status !== 200) throw unusable(`status ${response.status}`, true)
        return JSON.parse(await textOf(response))
      },
    ).catch((error: unknown) => {
      throw error instanceof SyntaxError ? unusable('no JSON') : error
    })

  const textOf = async (response: Response): Promise<string> => {
    const decoder = new TextDecoder()
    let text = ''
    let size = 0
    // A reader, since not every browser iterates a stream.
    for (const reader = response.body?.getReader(); reader !== undefined; ) {
      const { done, value } = await reader.read()
      if (done) break
      size += value.byteLength
      if (size > BODY_BYTES_MAX) {
        await reader.cancel()
        throw unusable(`a body of more than ${BODY_BYTES_MAX} bytes`)
      }
      text += decoder.decode(value, { stream: true })
    }
    return text + decoder.decode()
  }

  const unusable = (what: string, retryable = false) =>
    failure('INVALID_RESPONSE', `${url} answered with ${what}, which is no result of a resolver.`, {
      retryable,
    })

  /** A result in the form of the draft; another network's or another naming system's is refused. */
  const answerOf = (body: unknown, read: ResolverRead): ResolverAnswer => {
    const { fqpn, party_id: party, display_name: shown, valid_until: until } = Object(body)
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
    id,
    basis: 'claimed',
    accepts: (name) => !isSkipped(name, options),
    resolve: async (name, read) => ({ basis: 'claimed', found: await resolve(name, read) }),
    async reverse(party, read) {
      const body = await get('/v0/reverse-resolve', { party, network: read.network }, read)
      if (body === undefined) return []
      if (!Array.isArray(body)) throw unusable('another body')
      const claimed = body.slice(0, REVERSE_NAMES_MAX).map((row) => answerOf(row, read))
      const forward = await Promise.all(claimed.map(({ name }) => resolve(name, read)))
      return forward.flatMap((answer) =>
        answer?.party === party ? [{ ...answer, basis: 'claimed' as const }] : [],
      )
    },
  }
}
