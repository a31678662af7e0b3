/** HTTP calls to a validator: token, deadline, safe retries, and every failure as one class. It knows no operation. */

import { BodyTooLargeError, readAtMost } from '@quorumscan/reader'
import { backoffMs } from '@quorumscan/verifier'
import { failure, invalidArgument, isQuorumscanError, QuorumscanError } from '../errors.ts'
import type { Clock } from '../platform/clock.ts'
import { withDeadline } from '../platform/deadline.ts'
import { loadPart } from '../platform/load-part.ts'
import { parseJson } from '../platform/parse-json.ts'
import type { Random } from '../platform/random.ts'
import { answerBytesMax } from './answer-limits.ts'
import {
  type HttpReply,
  type HttpRequest,
  headerOf,
  isAnswered,
  isResponse,
  isSafe,
  nameOf,
} from './http-request.ts'

export type Http = ReturnType<typeof createHttp>

const ATTEMPTS_MAX = 3
const DOUBT = '; it may or may not have taken effect'
const BACKOFF = { minMs: 200, maxMs: 2000 }

/** Sends no cookies or referrer of the page, and never sends a token elsewhere because of a redirect. */
const ISOLATED = {
  redirect: 'manual',
  credentials: 'omit',
  cache: 'no-store',
  referrerPolicy: 'no-referrer',
} as const

/** The code of refusals, which a read with an answer does not need. */
export const loadFailures = () => loadPart(() => import('./http-failures.ts'))

export function createHttp(options: {
  /** Without trailing slash. */
  readonly url: string
  /** Of the ledger interface, whose paths begin with `/v2`; without trailing slash. */
  readonly ledgerUrl: string
  readonly token: TokenSource | null
  /** Called before each request. If it fails, nothing was sent. */
  readonly fetchOf: () => Promise<typeof globalThis.fetch>
  readonly clock: Clock
  readonly random: Random
  readonly timeoutMs: number
  /** Called with the offset of each answer, of writes and of reads. */
  readonly onOffset?: (offset: number) => Promise<void>
  /** Default: by `import()`. */
  readonly failures?: typeof loadFailures
}) {
  const { clock, random, failures = loadFailures } = options
  const token = createTokenCache(options.token)
  let newest = 0
  const recordOffset = (reply: HttpReply): void => {
    const offset = Number(reply.header('x-ledger-offset'))
    if (!Number.isSafeInteger(offset) || offset <= 0) return
    newest = Math.max(newest, offset)
    // A slow or failing store does not delay the answer.
    options.onOffset?.(offset).catch(() => {})
  }

  const exchange = async (request: HttpRequest, bearer: string | null, signal: AbortSignal) => {
    const base = request.path.startsWith('/v2/') ? options.ledgerUrl : options.url
    const headers: Record<string, string> = { accept: 'application/json', ...request.headers }
    if (bearer !== null) headers['authorization'] = `Bearer ${headerText(bearer)}`
    if (request.body !== undefined)
      headers['content-type'] = request.contentType ?? 'application/json'
    const url = urlOf(base, request)
    const sent = request.body === undefined ? null : JSON.stringify(request.body)
    const { bytesMax = answerBytesMax(request.path) } = request
    // Called without an object: `fetch` of a page accepts no other `this` than the page.
    const fetch = await options.fetchOf()
    signal.throwIfAborted()
    let reply: HttpReply | null = null
    // From here on the request may be sent: no error is trusted to say that it had no effect.
    try {
      const init = { method: request.method, headers, signal, body: sent, ...ISOLATED }
      const response = await fetch(url, init)
      if (isResponse(response)) {
        const text = new TextDecoder().decode(await readAtMost(response, { bytesMax, signal }))
        const status = response.type === 'opaqueredirect' ? 302 : response.status
        reply = { status, text, header: (name) => headerOf(response, name) }
      }
    } catch (cause) {
      signal.throwIfAborted()
      if (isQuorumscanError(cause)) throw (await failures()).fetchFailed(request, cause)
      if (cause instanceof BodyTooLargeError) throw (await failures()).tooLarge(request, cause)
      const definite = isSafe(request)
      const message = `${nameOf(request)} got no answer from ${base}${definite ? '' : DOUBT}. Is the server running, and the address right?`
      throw failure('NETWORK_ERROR', message, { definite, retryable: true, cause })
    }
    if (reply !== null) return reply
    throw (await failures()).fetchFailed(request, new TypeError('it returned no Response'))
  }

  const attempt = async (request: HttpRequest, signal: AbortSignal): Promise<HttpReply> => {
    const isAuthenticated = request.isAuthenticated ?? true
    for (let refused: string | null = null; ; ) {
      const bearer: string | null = isAuthenticated ? await token.get(refused, signal) : null
      const reply = await exchange(request, bearer, signal)
      recordOffset(reply)
      // A 401 comes before any effect, so that even a write can be sent again.
      if (reply.status !== 401 || refused !== null || !token.isRenewable || bearer === null)
        return reply
      refused = bearer
    }
  }

  /** @throws {QuorumscanError} Unless an answer came. @throws The signal's reason when aborted. */
  const send = (request: HttpRequest): Promise<HttpReply> => {
    const { signal, timeoutMs = options.timeoutMs } = request
    const endsAtMs = clock.monotonicMs() + timeoutMs
    const doubt = isSafe(request) ? undefined : DOUBT
    const bound = { clock, timeoutMs, signal, what: nameOf(request), doubt }
    return withDeadline(bound, async (signal) => {
      // Before a write is sent: what is known of its effect must not depend on code that may fail to load.
      if (!isSafe(request)) {
        await failures()
        signal.throwIfAborted()
      }
      for (let count = 1; ; count++) {
        let error: unknown
        try {
          const reply = await attempt(request, signal)
          if (isAnswered(request, reply)) return reply
          error = (await failures()).failureOf(request, reply)
        } catch (thrown) {
          error = thrown
        }
        signal.throwIfAborted()
        // The usual backoff, unless the server asks for a longer pause.
        const asked = error instanceof QuorumscanError ? error.retryAfterMs : null
        const pause = Math.max(asked ?? 0, backoffMs(count, { ...BACKOFF, random }))
        // A wait beyond the deadline would replace what is known by a timeout.
        const isTooLate = clock.monotonicMs() + pause >= endsAtMs
        if (count >= ATTEMPTS_MAX || isTooLate || !isRepeatable(request, error)) throw error
        await clock.delay(pause, signal)
      }
    })
  }

  return {
    send,
    /** Sends, parses and checks. Throws as `send`. */
    async call<T>(request: HttpRequest, isValid: (body: unknown) => body is T): Promise<T> {
      const reply = await send(request)
      const body = reply.text === '' ? null : parseJson(reply.text)
      if (body === undefined || !isValid(body))
        throw (await failures()).unreadable(request, reply.status)
      return body
    },
    /** What is left of the timeout of a call that makes several requests, in ms, each time it is asked. */
    timeLeft(timeoutMs = options.timeoutMs): () => number {
      const startedAtMs = clock.monotonicMs()
      return () => {
        const passedMs = Math.floor(clock.monotonicMs() - startedAtMs)
        return passedMs > 0 ? Math.max(0, timeoutMs - passedMs) : timeoutMs
      }
    },
    /** The newest offset in the headers of answers (D-39). */
    offset: () => newest,
    /** The current token, for other connections than HTTP calls. null: none is configured. */
    token: (refused: string | null, signal: AbortSignal) => token.get(refused, signal),
  }
}

/** Removes the line end of a token that was read from a file. */
function headerText(token: string): string {
  const text = typeof token === 'string' ? token.trim() : null
  if (text === null || !/^[!-~]*$/.test(text)) {
    const message =
      'The token is not a bearer token of visible ASCII characters. Check what `token` returns.'
    throw invalidArgument(message)
  }
  return text
}

function urlOf(base: string, request: HttpRequest): string {
  const query = Object.entries(request.query ?? {}).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  )
  return `${base}${request.path}${query.length === 0 ? '' : `?${query.join('&')}`}`
}

/** Whether a repeat cannot have a second effect: the request is safe, or it certainly had no effect. */
function isRepeatable(request: HttpRequest, error: unknown): boolean {
  if (!(error instanceof QuorumscanError)) return false // Such as an error of the token function.
  if (error.status === 404) return false // For any body: that something is missing is an answer.
  return error.retryable && (isSafe(request) || error.definite)
}

/** A token, or a function that returns one. It is called at the first request, and again when the server refuses the last token. */
export type TokenSource =
  | string
  | ((context: {
      /** The token that the server refused, null the first time. */
      readonly refused: string | null
      /** Aborts when the call that needs the token is aborted or times out. */
      readonly signal: AbortSignal
    }) => string | Promise<string>)

/** Calls the source once for concurrent calls. */
function createTokenCache(source: TokenSource | null) {
  let current: string | null = typeof source === 'string' ? source : null
  let asking: { readonly signal: AbortSignal; readonly token: Promise<string> } | undefined
  return {
    isRenewable: typeof source === 'function',
    async get(refused: string | null, signal: AbortSignal): Promise<string | null> {
      if (typeof source !== 'function') return current
      for (;;) {
        // Another call may have received a newer token meanwhile.
        if (current !== null && current !== refused) return current
        if (asking === undefined) {
          const ask = async () => source({ refused, signal })
          const token = ask().finally(() => {
            asking = undefined
          })
          asking = { signal, token }
        }
        const { signal: askedFor, token } = asking
        try {
          current = await token
          return current
        } catch (cause) {
          signal.throwIfAborted()
          // Only the call that asked was aborted: the others ask again.
          if (askedFor.aborted) continue
          // Nothing was sent, whatever the function's error says.
          const retryable = isQuorumscanError(cause) && cause.retryable
          throw failure('UNAUTHENTICATED', 'The `token` function failed.', { retryable, cause })
        }
      }
    },
  }
}
