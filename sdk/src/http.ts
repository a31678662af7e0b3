/**
 * One HTTP call to a validator: token, deadline, repeats where a repeat is safe, and every failure as one
 * class. It knows no operation.
 */
import type { Clock, Random } from './clock.ts'
import { withDeadline } from './deadline.ts'
import { QuorumscanError } from './errors.ts'

/** A text, or asked for when one is needed; asked again, once, when the server refuses the last one. */
export type TokenSource =
  | string
  | ((context: {
      /** The token that the server refused, null the first time. */
      readonly refused: string | null
      readonly signal: AbortSignal
    }) => string | Promise<string>)

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
}

export type HttpRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH'
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Default `application/json`; `text/plain` where a browser should need no preflight (D-14). */
  readonly contentType?: 'text/plain'
  /** Whether a second time changes nothing more than the first. Default: for GET only. */
  readonly isSafe?: boolean
  /** Whether to send the token. Default true. */
  readonly isAuthenticated?: boolean
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
  /** Which replies beside 2xx are answers, not failures. */
  readonly isAnswer?: (reply: HttpReply) => boolean
}

export type HttpReply = {
  readonly status: number
  header(name: string): string | null
  readonly text: string
}

export interface Http {
  /** @throws {QuorumscanError} Unless an answer came. @throws The signal's reason when aborted. */
  send(request: HttpRequest): Promise<HttpReply>
  /** Sends, parses and checks. */
  call<T>(request: HttpRequest, isValid: (body: unknown) => body is T): Promise<T>
  /** The current token, for what is no HTTP call. null: none is configured. */
  token(refused: string | null, signal: AbortSignal): Promise<string | null>
}

const ATTEMPTS_MAX = 3
const BACKOFF_MS = 200
const BACKOFF_MS_MAX = 2000
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

  const attempt = async (request: HttpRequest, signal: AbortSignal): Promise<HttpReply> => {
    const isAuthenticated = request.isAuthenticated ?? true
    for (let refused: string | null = null; ; ) {
      const bearer: string | null = isAuthenticated ? await token.get(refused, signal) : null
      const reply = await exchange(options, { request, bearer, signal })
      // Refused before anything was done, so that even a write may be sent again.
      if (reply.status !== 401 || refused !== null || !token.isRenewable || bearer === null)
        return reply
      refused = bearer
    }
  }

  const send = (request: HttpRequest): Promise<HttpReply> =>
    withDeadline(
      {
        clock,
        timeoutMs: request.timeoutMs ?? options.timeoutMs,
        signal: request.signal,
        what: nameOf(request),
        isRead: isSafe(request),
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
          if (count >= ATTEMPTS_MAX || !isRepeatable(request, error)) throw error
          await clock.delay(pauseMs(count, error, random), signal)
        }
      },
    )

  return {
    send,
    async call(request, isValid) {
      const reply = await send(request)
      const body = reply.text === '' ? null : parseJson(reply.text)
      if (body === undefined || !isValid(body)) throw unreadable(request, reply.status)
      return body
    },
    token: (refused, signal) => token.get(refused, signal),
  }
}

function createTokenKeeper(source: TokenSource | null) {
  let current: string | null = typeof source === 'string' ? source : null
  let asking: Promise<string> | undefined
  return {
    isRenewable: typeof source === 'function',
    async get(refused: string | null, signal: AbortSignal): Promise<string | null> {
      if (typeof source !== 'function') return current
      // Another call may have brought a newer one meanwhile.
      if (current !== null && current !== refused) return current
      // Calls of one moment ask once.
      asking ??= Promise.resolve(source({ refused, signal })).finally(() => {
        asking = undefined
      })
      current = await asking
      return current
    },
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
  if (bearer !== null) headers['authorization'] = `Bearer ${bearer}`
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
    throw new QuorumscanError(
      `${nameOf(request)} got no answer from ${base}${isSafe(request) ? '' : '; it may or may not have taken effect'}. Is the server running, and the address right?`,
      { code: 'NETWORK_ERROR', definite: isSafe(request), retryable: true, cause },
    )
  }
}

function urlOf(base: string, request: HttpRequest): string {
  const query = Object.entries(request.query ?? {}).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  )
  return `${base}${request.path}${query.length === 0 ? '' : `?${query.join('&')}`}`
}

/** null: it is an answer. */
function failureOf(request: HttpRequest, reply: HttpReply): QuorumscanError | null {
  const { status } = reply
  if ((status >= 200 && status < 300) || request.isAnswer?.(reply) === true) return null
  if (status >= 300 && status < 400)
    return new QuorumscanError(
      `${nameOf(request)} is redirected${reply.header('location') === null ? '' : ` to ${reply.header('location')}`}. Redirects are not followed: configure the final address.`,
      { code: 'INVALID_RESPONSE', status, definite: true, retryable: false },
    )
  const facts = errorBody(reply.text, status)
  const retryAfterMs = retryAfter(reply.header('retry-after'))
  if (facts === null) {
    // Whoever stands before the server says so without our body, or with none at all.
    const isRefusal = status === 429 || (status >= 400 && status < 500 && status !== 408)
    // The ledger interface says in one line of text what it could not read.
    const line = status === 400 && reply.text.length < 500 ? reply.text.trim() : ''
    return new QuorumscanError(
      `${nameOf(request)} was answered with status ${status} and ${line === '' ? 'no reason' : `"${line}"`}.`,
      {
        code: 'INVALID_RESPONSE',
        status,
        definite: isSafe(request) || isRefusal,
        retryable: status === 429 || status >= 500,
        requestId: reply.header('x-request-id'),
        retryAfterMs,
      },
    )
  }
  return new QuorumscanError(facts.error, {
    code: facts.code,
    status,
    definite: facts.definite || isSafe(request),
    retryable: facts.retryable,
    requestId: facts.request_id,
    details: facts.details,
    retryAfterMs,
  })
}

/** What the ledger interface says at the end of a stream; null: it is no error of it. */
export function ledgerErrorOf(text: string): QuorumscanError | null {
  // No status came: it is one that says nothing more than the body.
  const facts = errorBody(text, 400)
  if (facts === null) return null
  const { error, code, retryable, request_id: requestId, details } = facts
  return new QuorumscanError(error, { code, definite: true, retryable, requestId, details })
}

function isSafe(request: HttpRequest): boolean {
  return request.isSafe ?? request.method === 'GET'
}

/** Where a repeat cannot do anything twice: the request is safe, or it certainly did nothing. */
function isRepeatable(request: HttpRequest, error: unknown): boolean {
  if (!(error instanceof QuorumscanError)) return false // Thrown by the token function, say.
  return error.retryable && (isSafe(request) || error.definite)
}

/** Doubling, half of it drawn, unless the server says how long. */
function pauseMs(count: number, error: unknown, random: Random): number {
  const asked = error instanceof QuorumscanError ? error.retryAfterMs : null
  const full = Math.min(BACKOFF_MS * 2 ** (count - 1), BACKOFF_MS_MAX)
  return Math.max(asked ?? 0, full / 2 + (full / 2) * random())
}

function retryAfter(text: string | null): number | null {
  return text !== null && /^[0-9]{1,6}$/.test(text) ? Number(text) * 1000 : null
}

/** Reference: ledger interface, §7.1. */
type LedgerError = {
  readonly cause: string
  readonly correlationId: string | null
  readonly traceId: string | null
  readonly context: Record<string, string>
  readonly retryInfo: string | null
  readonly definiteAnswer: boolean | null
}

type ErrorBody = {
  readonly error: string
  readonly code: string
  readonly definite: boolean
  readonly retryable: boolean
  readonly request_id: string
  readonly details: Record<string, unknown> | null
}

/** D-6, or the ledger interface's, or null. */
function errorBody(text: string, status: number): ErrorBody | null {
  const body = parseJson(text) as Partial<ErrorBody & LedgerError> | null | undefined
  if (typeof body?.code === 'string' && typeof body.cause === 'string')
    return {
      error: body.cause,
      code: body.code,
      // Without an answer of its own: what was refused as a request was not submitted.
      definite: body.definiteAnswer ?? status < 500,
      retryable: typeof body.retryInfo === 'string' || status === 503,
      request_id: body.correlationId ?? body.traceId ?? '',
      details: body.context ?? null,
    }
  const isOne =
    typeof body?.error === 'string' &&
    typeof body.code === 'string' &&
    typeof body.definite === 'boolean' &&
    typeof body.retryable === 'boolean'
  return isOne ? (body as ErrorBody) : null
}

function unreadable(request: HttpRequest, status: number): QuorumscanError {
  return new QuorumscanError(
    `The answer to ${nameOf(request)} is not what this version of the SDK understands.`,
    { code: 'INVALID_RESPONSE', status, definite: isSafe(request), retryable: false },
  )
}

/** @returns undefined for what is no JSON, a truncated body for one. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // The caller says what that means.
  }
}

function nameOf(request: HttpRequest): string {
  return `${request.method} ${request.path}`
}
