/**
 * Clients of the HTTP interfaces, one method and path at a time, typed by the generated types.
 *
 * A call resolves with `{data, response}` or `{error, response}`. It rejects only without a response: after a network
 * failure, when the signal aborts, or with INVALID_RESPONSE if the answer is larger than any answer of its route.
 * With `parseAs: 'stream'` the caller bounds what it reads.
 */

import { BodyTooLargeError, readAtMost } from '@quorumscan/reader'
import { membersOf } from '@quorumscan/verifier'
import createFetchClient, { type Client } from 'openapi-fetch'
import type { paths as LedgerPaths, components as LedgerSchemas } from './generated/ledger.ts'
import type { components, paths as ScanPaths } from './generated/scan.ts'
import type { paths as ValidatorPaths } from './generated/validator.ts'
import { answerBytesMax } from './http/answer-limits.ts'
import { tooLarge } from './http/http-failures.ts'
import type { HttpRequest } from './http/http-request.ts'
import { anything, assertOptions, isFunction, isText } from './platform/options.ts'
import { parseJson } from './platform/parse-json.ts'

export type { components as LedgerComponents, paths as LedgerPaths } from './generated/ledger.ts'
export type { components as ScanComponents, paths as ScanPaths } from './generated/scan.ts'
export type {
  components as ValidatorComponents,
  paths as ValidatorPaths,
} from './generated/validator.ts'

/** The error body of a refusal. Codes are permanent; sentences are for people. */
export type ErrorBody = components['schemas']['Error']
/** The error body of the ledger interface. A request that cannot be decoded is refused in one line of text. */
export type LedgerErrorBody = LedgerSchemas['schemas']['JsCantonError']

/** The media type of all answers here. Only the verified reader reads certified answers. */
type Json = 'application/json'
/** Routes of one scan node: `client.GET('/v0/ans-entries', {params})`. */
export type ScanClient = Client<ScanPaths, Json>
/** Routes of a validator: name entries, wallet, scan proxy. */
export type ValidatorClient = Client<ValidatorPaths, Json>
/** Routes of a validator's ledger interface. */
export type LedgerClient = Client<LedgerPaths, Json>

/** Address and token of a client. */
export type ClientOptions = {
  /** Base URL of the interface, such as `http://127.0.0.1:4601` or `https://example.org/api/scan`. */
  readonly baseUrl: string
  /** The bearer token, or a function that returns it for each request. */
  readonly token?: string | (() => string | Promise<string>)
  /** Instead of the global `fetch`. */
  readonly fetch?: (request: Request) => Promise<Response>
}

/** A client of one scan node, whose answers it does not verify. */
export function createScanClient(options: ClientOptions): ScanClient {
  return createClient<ScanPaths>(options, errorBodyOf)
}

/** A client of a validator: name entries, wallet, and lookups that enough scan nodes agree on. */
export function createValidatorClient(options: ClientOptions): ValidatorClient {
  return createClient<ValidatorPaths>(options, errorBodyOf)
}

/** A client of a validator's ledger interface, `/v2`; its `baseUrl` is the validator's root. */
export function createLedgerClient(options: ClientOptions): LedgerClient {
  return createClient<LedgerPaths>(options, ledgerErrorOf)
}

/** @param errorOf - The error body to put in place of one that is not the server's own; null: it is. */
function createClient<Paths extends object>(
  options: ClientOptions,
  errorOf: (body: string, response: Response) => ErrorBody | LedgerErrorBody | null,
): Client<Paths, Json> {
  assertOptions<ClientOptions>('this client', options, {
    baseUrl: isText,
    token: anything,
    fetch: isFunction,
  })
  const { baseUrl, token, fetch } = options
  const client = createFetchClient<Paths, Json>({ baseUrl, ...(fetch && { fetch }) })
  client.use({
    async onRequest({ request }) {
      if (token === undefined) return undefined
      const value = typeof token === 'string' ? token : await token()
      request.headers.set('authorization', `Bearer ${value}`)
      return request
    },
    /** Gives every refusal an error body. openapi-fetch leaves `error` undefined for an empty body. */
    async onResponse({ response, request, schemaPath, options }) {
      if (response.ok && (response.body === null || options.parseAs === 'stream')) return undefined
      const bytes = await readBody(response, request, schemaPath)
      const { status, statusText } = response
      const headers = new Headers(response.headers)
      // These describe the original bytes; openapi-fetch reads no body if the length is 0.
      headers.delete('content-length')
      headers.delete('content-encoding')
      const error = response.ok ? null : errorOf(new TextDecoder().decode(bytes), response)
      const body = error === null ? bytes : JSON.stringify(error)
      return new Response(body, { status, statusText, headers })
    },
  })
  return client
}

/** @throws {QuorumscanError} INVALID_RESPONSE if it is larger than any answer of the route. */
async function readBody(response: Response, { method, signal }: Request, path: string) {
  try {
    return await readAtMost(response, { bytesMax: answerBytesMax(path), signal })
  } catch (cause) {
    if (!(cause instanceof BodyTooLargeError)) throw cause
    throw tooLarge({ method: method as HttpRequest['method'], path }, cause)
  }
}

const noReason = (status: number) => `The server answered with status ${status} and no reason.`

/** D-6. `INVALID_RESPONSE` is a code of the client: the server does not speak this protocol. */
function errorBodyOf(body: string, { status }: Response): ErrorBody | null {
  if (hasMembers(body, 'error', 'code')) return null
  return {
    error: noReason(status),
    code: 'INVALID_RESPONSE',
    definite: false,
    retryable: status >= 500,
    request_id: '',
    details: null,
  }
}

/** A request that cannot be decoded is refused in one line of text. */
function ledgerErrorOf(body: string, { status, headers }: Response): LedgerErrorBody | null {
  const isLine = headers.get('content-type')?.startsWith('text/plain') === true && body !== ''
  if (hasMembers(body, 'cause', 'code') || (status === 400 && isLine)) return null
  return {
    cause: noReason(status),
    code: 'INVALID_RESPONSE',
    correlationId: null,
    traceId: null,
    context: {},
    resources: [],
    errorCategory: -1,
    grpcCodeValue: null,
    retryInfo: status >= 500 ? '1 second' : null,
    definiteAnswer: false,
  }
}

function hasMembers(text: string, ...names: readonly string[]): boolean {
  const body = membersOf(parseJson(text))
  return names.every((name) => name in body)
}
