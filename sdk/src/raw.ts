/**
 * Clients of the HTTP interfaces, one method and path at a time, typed by the generated types.
 *
 * A call resolves with `{data, response}` or `{error, response}`; it rejects only if no response came
 * (the network, an aborted signal).
 */
import createFetchClient, { type Client, type Middleware } from 'openapi-fetch'
import type { paths as LedgerPaths, components as LedgerSchemas } from './generated/ledger.ts'
import type { components, paths as ScanPaths } from './generated/scan.ts'
import type { paths as ValidatorPaths } from './generated/validator.ts'

export type { components as LedgerComponents, paths as LedgerPaths } from './generated/ledger.ts'
export type { components as ScanComponents, paths as ScanPaths } from './generated/scan.ts'
export type {
  components as ValidatorComponents,
  paths as ValidatorPaths,
} from './generated/validator.ts'

/** What the server says when it refuses. Codes are permanent, sentences are for people. */
export type ErrorBody = components['schemas']['Error']
/** The same of the ledger interface, whose form is another. What does not decode is one line of text. */
export type LedgerErrorBody = LedgerSchemas['schemas']['JsCantonError']

/** The form of all answers here; the one that carries receipts is read by the verified reader. */
type Json = 'application/json'
/** One scan node's routes: `client.GET('/v0/ans-entries', {params})`. */
export type ScanClient = Client<ScanPaths, Json>
/** A validator's routes: name entries, wallet, scan proxy. */
export type ValidatorClient = Client<ValidatorPaths, Json>
/** The routes of a validator's ledger interface. */
export type LedgerClient = Client<LedgerPaths, Json>

/** Where a client asks, and as whom. */
export type ClientOptions = {
  /** Where the interface is mounted, such as `http://127.0.0.1:4601` or `https://example.org/api/scan`. */
  readonly baseUrl: string
  /** Sent as bearer token; a function is asked before every request. */
  readonly token?: string | (() => string | Promise<string>)
  /** Instead of the global `fetch`. */
  readonly fetch?: (request: Request) => Promise<Response>
}

/** A client of one scan node. Its answers are the word of that node alone. */
export function createScanClient(options: ClientOptions): ScanClient {
  return createClient<ScanPaths>(options, ours)
}

/** A client of a validator: name entries, wallet, and lookups that enough scan nodes agree on. */
export function createValidatorClient(options: ClientOptions): ValidatorClient {
  return createClient<ValidatorPaths>(options, ours)
}

/** A client of a validator's ledger interface, `/v2`; its `baseUrl` is the validator's root. */
export function createLedgerClient(options: ClientOptions): LedgerClient {
  return createClient<LedgerPaths>(options, ledger)
}

function createClient<Paths extends object>(
  options: ClientOptions,
  form: ErrorForm,
): Client<Paths, Json> {
  const client = createFetchClient<Paths, Json>({
    baseUrl: options.baseUrl,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
  })
  if (options.token !== undefined) client.use(bearer(options.token))
  client.use(alwaysAnError(form))
  return client
}

function bearer(token: string | (() => string | Promise<string>)): Middleware {
  return {
    async onRequest({ request }) {
      const value = typeof token === 'string' ? token : await token()
      request.headers.set('authorization', `Bearer ${value}`)
      return request
    },
  }
}

/** How errors look. */
type ErrorForm = {
  /** Whether the server itself said it, not something before it. */
  isOne(body: string, response: Response): boolean
  /** `INVALID_RESPONSE` is the client's own code: what answered does not speak this protocol. */
  withoutReason(status: number): ErrorBody | LedgerErrorBody
}

/** openapi-fetch leaves `error` undefined for an empty body, and takes whatever else a proxy may say. */
function alwaysAnError(form: ErrorForm): Middleware {
  return {
    async onResponse({ response }) {
      if (response.ok) return undefined
      const text = await response.text()
      const { status, statusText } = response
      const headers = new Headers(response.headers)
      // They spoke of the bytes as they came; openapi-fetch reads no body where the length is 0.
      headers.delete('content-length')
      headers.delete('content-encoding')
      const isOne = form.isOne(text, response)
      const body = isOne ? text : JSON.stringify(form.withoutReason(status))
      return new Response(body, { status, statusText, headers })
    },
  }
}

const noReason = (status: number) => `The server answered with status ${status} and no reason.`

/** D-6. */
const ours: ErrorForm = {
  isOne: (text) => hasMembers(text, 'error', 'code'),
  withoutReason: (status) => ({
    error: noReason(status),
    code: 'INVALID_RESPONSE',
    definite: false,
    retryable: status >= 500,
    request_id: '',
    details: null,
  }),
}

/** What does not decode is told in one line of text. */
const ledger: ErrorForm = {
  isOne: (text, { status, headers }) =>
    hasMembers(text, 'cause', 'code') ||
    (status === 400 &&
      text !== '' &&
      headers.get('content-type')?.startsWith('text/plain') === true),
  withoutReason: (status) => ({
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
  }),
}

function hasMembers(text: string, ...names: readonly string[]): boolean {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null && names.every((name) => name in body)
  } catch {
    // Not JSON: somebody else answered.
    return false
  }
}
