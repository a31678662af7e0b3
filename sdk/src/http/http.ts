/**
 * One HTTP call to a validator: token, deadline, repeats where a repeat is safe, and every failure as one
 * class. It knows no operation.
 */

import { backoffMs } from '@quorumscan/verifier'
import { failure, invalidArgument, QuorumscanError } from '../errors.ts'
import type { Clock, Random } from '../platform/clock.ts'
import { withDeadline } from '../platform/deadline.ts'
import { failureOf, parseJson, unreadable } from './http-failures.ts'
import { type HttpReply, type HttpRequest, isSafe, nameOf } from './request.ts'
import { createTokenKeeper, type TokenSource } from './token.ts'

export type HttpOptions = {
  /** Without trailing slash. */
  readonly url: string
  /** Of the ledger interface, whose paths begin with `/v2`; without trailing slash. */
  readonly ledgerUrl: string
  readonly token: TokenSource | null
  readonly fetch: typeof globalThis.fetch
  readonly clock: Clock
  readonly random: Random
  readonly timeoutMs: number
  /** Told of the newest offset that an answer shows, whether it is of a write or of a read. */
  readonly onShown?: (offset: number) => Promise<void>
}

export interface Http {
  /** @throws {QuorumscanError} Unless an answer came. @throws The signal's reason when aborted. */
  send(request: HttpRequest): Promise<HttpReply>
  /** Sends, parses and checks. */
  call<T>(request: HttpRequest, isValid: (body: unknown) => body is T): Promise<T>
  /** The newest offset that an answer has shown (D-39). */
  offset(): number
  /** The current token, for what is no HTTP call. null: none is configured. */
  token(refused: string | null, signal: AbortSignal): Promise<string | null>
}

const ATTEMPTS_MAX = 3
const BACKOFF = { minMs: 200, maxMs: 2000 }
/** The largest page of the largest rows stays below. */
const ANSWER_CHARACTERS_MAX = 32 * 1024 * 1024

/** Nothing of the page travels along, and a token is never carried elsewhere by a redirect. */
const ISOLATED = {
  redirect: 'manual',
  credentials: 'omit',
  cache: 'no-store',
  referrerPolicy: 'no-referrer',
} as const

export function createHttp(options: HttpOptions): Http {
  const { clock, random } = options
  const token = createTokenKeeper(options.token)
  let newest = 0
  const note = (reply: HttpReply): void => {
    const offset = Number(reply.header('x-ledger-offset'))
    if (!Number.isSafeInteger(offset) || offset <= 0) return
    newest = Math.max(newest, offset)
    // A store that is slow, or cannot be opened now, keeps no answer back.
    options.onShown?.(offset).catch(() => {})
  }

  const attempt = async (request: HttpRequest, signal: AbortSignal): Promise<HttpReply> => {
    const isAuthenticated = request.isAuthenticated ?? true
    for (let refused: string | null = null; ; ) {
      const bearer: string | null = isAuthenticated ? await token.get(refused, signal) : null
      const reply = await exchange(options, { request, bearer, signal })
      note(reply)
      // Refused before anything was done, so that even a write may be sent again.
      if (reply.status !== 401 || refused !== null || !token.isRenewable || bearer === null)
        return reply
      refused = bearer
    }
  }

  const send = (request: HttpRequest): Promise<HttpReply> => {
    const timeoutMs = request.timeoutMs ?? options.timeoutMs
    const endsAtMs = clock.monotonicMs() + timeoutMs
    return withDeadline(
      {
        clock,
        timeoutMs,
        signal: request.signal,
        what: nameOf(request),
        doubt: isSafe(request) ? undefined : '; it may or may not have taken effect',
      },
      async (signal) => {
        for (let count = 1; ; count++) {
          const outcome = await attempt(request, signal).then(
            (reply) => ({ reply, error: failureOf(request, reply) }),
            (error: unknown) => ({ reply: null, error }),
          )
          if (outcome.reply !== null && outcome.error === null) return outcome.reply
          signal.throwIfAborted()
          const { error } = outcome
          const pause = pauseMs(count, error, random)
          // To wait beyond the deadline would make a timeout, which says nothing, of what is known.
          const isTooLate = clock.monotonicMs() + pause >= endsAtMs
          if (count >= ATTEMPTS_MAX || isTooLate || !isRepeatable(request, error)) throw error
          await clock.delay(pause, signal)
        }
      },
    )
  }

  return {
    send,
    async call(request, isValid) {
      const reply = await send(request)
      const body = reply.text === '' ? null : parseJson(reply.text)
      if (body === undefined || !isValid(body)) throw unreadable(request, reply.status)
      return body
    },
    offset: () => newest,
    token: (refused, signal) => token.get(refused, signal),
  }
}

async function exchange(
  options: HttpOptions,
  input: {
    readonly request: HttpRequest
    readonly bearer: string | null
    readonly signal: AbortSignal
  },
): Promise<HttpReply> {
  const { request, bearer, signal } = input
  const base = request.path.startsWith('/v2/') ? options.ledgerUrl : options.url
  const headers: Record<string, string> = { accept: 'application/json', ...request.headers }
  if (bearer !== null) headers['authorization'] = `Bearer ${headerText(bearer)}`
  if (request.body !== undefined)
    headers['content-type'] = request.contentType ?? 'application/json'
  try {
    const response = await options.fetch(urlOf(base, request), {
      method: request.method,
      headers,
      signal,
      body: request.body === undefined ? null : JSON.stringify(request.body),
      ...ISOLATED,
    })
    const text = await response.text()
    if (text.length > ANSWER_CHARACTERS_MAX) throw new RangeError('the answer is too large')
    const status = response.type === 'opaqueredirect' ? 302 : response.status
    return { status, text, header: (name) => response.headers.get(name) }
  } catch (cause) {
    signal.throwIfAborted()
    throw failure(
      'NETWORK_ERROR',
      `${nameOf(request)} got no answer from ${base}${isSafe(request) ? '' : '; it may or may not have taken effect'}. Is the server running, and the address right?`,
      { definite: isSafe(request), retryable: true, cause },
    )
  }
}

/** Read from a file, a token often ends with the line. */
function headerText(token: string): string {
  const text = typeof token === 'string' ? token.trim() : null
  if (text === null || !/^[!-~]*$/.test(text))
    throw invalidArgument(
      'The token is no bearer token: a text of visible ASCII characters. What does `token` give?',
    )
  return text
}

function urlOf(base: string, request: HttpRequest): string {
  const query = Object.entries(request.query ?? {}).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  )
  return `${base}${request.path}${query.length === 0 ? '' : `?${query.join('&')}`}`
}

/** Where a repeat cannot do anything twice: the request is safe, or it certainly did nothing. */
function isRepeatable(request: HttpRequest, error: unknown): boolean {
  if (!(error instanceof QuorumscanError)) return false // Thrown by the token function, say.
  if (error.status === 404) return false // Whatever its body says: what is not there is an answer.
  return error.retryable && (isSafe(request) || error.definite)
}

/** The usual back-off, unless the server asks for more. */
function pauseMs(count: number, error: unknown, random: Random): number {
  const asked = error instanceof QuorumscanError ? error.retryAfterMs : null
  return Math.max(asked ?? 0, backoffMs(count, { ...BACKOFF, random }))
}
