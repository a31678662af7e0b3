/**
 * A validator's scan proxy as the only address of a reader: it answers from its own replica, and each of its answers
 * is checked here. Without a genesis document that of the proxy is taken, and with it the proxy's word.
 */

import type { Transport, TransportRequest } from '@quorumscan/reader'
import type { CertifiedOutcome, CertifiedReader } from '@quorumscan/reader/certified'
import { type CryptoPort, type Genesis, parseGenesis } from '@quorumscan/verifier'
import { CERTIFIED_MEDIA_TYPE, sha256 } from '@quorumscan/verifier/certified'
import { checkGenesis } from '../checked-genesis.ts'
import { failure, type QuorumscanError } from '../errors.ts'
import type { Http } from '../http/http.ts'
import { parseJson } from '../http/http-failures.ts'
import type { HttpReply, HttpRequest } from '../http/request.ts'
import type { Clock } from '../platform/clock.ts'
import { createKept, type Kept } from '../platform/kept.ts'
import { type OpenedReader, openReader } from './open-reader.ts'

/** What answers are checked with. */
export type Trust = { readonly genesis: Genesis | string; readonly crypto: CryptoPort }

/** Signatures by keys that the proxy itself has told say nothing more than the proxy does. */
const TRUSTING: CryptoPort = {
  sha256: async (bytes) => new Uint8Array(sha256(bytes)),
  verifyEd25519: async () => true,
}
/** What the proxy says where it has no answer, and its nodes have none. */
const UNPROVEN = new Set<unknown>(['NO_CERTIFICATE', 'CONSENSUS_LAGGING', 'NOT_ENOUGH_NODES'])
const GENESIS_PATH = '/v0/genesis'
/** Of all requests: public (D-32), and a browser needs no preflight. */
const PUBLIC = { isSafe: true, isAuthenticated: false } as const

/**
 * @param options.trust - null: the proxy is trusted.
 * @throws {QuorumscanError} Why the proxy does not tell its genesis; CRYPTO_UNAVAILABLE.
 */
export async function openProxyReader(options: {
  readonly http: Http
  readonly url: string
  readonly clock: Clock
  readonly kept: Kept
  readonly trust: Trust | null
}): Promise<OpenedReader> {
  const { http, url, clock, trust } = options
  const { transport, lastFailure } = createProxyTransport(http)
  const { reader, ...opened } = await openReader({
    ...(trust ?? { genesis: await tellGenesis(http), crypto: TRUSTING }),
    seeds: [url],
    proxy: { transport, isTrusted: trust === null },
    clock,
    checkGenesis,
    // What a proxy says of itself is no floor for others.
    kept: trust === null ? createKept(undefined, clock) : options.kept,
    signal: new AbortController().signal,
  })
  const explained = <Outcome extends CertifiedOutcome<unknown>>(outcome: Outcome): Outcome => {
    if (outcome.kind === 'insufficient') explain(outcome.unproven, lastFailure())
    return outcome
  }
  const said: CertifiedReader = {
    ...reader,
    lookup: async (...input) => (await reader.lookup(...input)).map(explained),
    read: async (...input) => explained(await reader.read(...input)),
  }
  return { ...opened, reader: said }
}

async function tellGenesis(http: Http): Promise<Genesis> {
  const reply = await http.send({ ...PUBLIC, method: 'GET', path: '/v0/scan-proxy/genesis' })
  try {
    return parseGenesis(parseJson(reply.text))
  } catch (cause) {
    throw noProxy(cause)
  }
}

/** Requests of the reader as a scan proxy has them. `lastFailure` says how the last one failed. */
function createProxyTransport(http: Http) {
  let failed: unknown = null
  const request: Transport['request'] = async (input) => {
    failed = null
    try {
      const reply = await http.send({ ...PUBLIC, ...proxyRequest(input), signal: input.signal })
      const isDocument = reply.header('content-type')?.startsWith(CERTIFIED_MEDIA_TYPE)
      const isGenesis = input.path === GENESIS_PATH // It is checked by its hash.
      if (reply.status === 200 && isDocument !== true && !isGenesis) throw noProxy()
      const body = new TextEncoder().encode(reply.text)
      if (body.byteLength > input.bytesMax) throw noProxy()
      return { status: reply.status, header: reply.header, body }
    } catch (error) {
      // What the reader has ended itself says nothing of the proxy.
      if (!input.signal.aborted) failed = error
      throw error
    }
  }
  return { transport: { request }, lastFailure: () => failed }
}

/** The proxy has its threshold as `quorum`, and the floor of what is no batch in a header. */
function proxyRequest({ method, path, headers, body }: TransportRequest): HttpRequest {
  const { pathname, searchParams } = new URL(path, 'http://proxy')
  const shared = { method, path: pathname.replace('/v0/', '/v0/scan-proxy/'), isAnswer: isRefusal }
  if (body !== null) {
    const { signers: quorum, ...asked } = JSON.parse(new TextDecoder().decode(body))
    return { ...shared, headers, query: { quorum }, body: asked, contentType: 'text/plain' }
  }
  const { signers: quorum, min_offset: floor, ...query } = Object.fromEntries(searchParams)
  const bounds = floor === undefined ? {} : { 'x-min-offset': floor }
  return { ...shared, headers: { ...headers, ...bounds }, query: { ...query, quorum } }
}

/** What the reader itself makes an outcome of: a walk is over, or neither the proxy nor nodes prove anything. */
function isRefusal({ status, text }: HttpReply): boolean {
  return status === 410 || UNPROVEN.has(Object(parseJson(text)).code)
}

/** Says why there is no answer better than that nodes are missing, as it is the proxy that was asked. */
function explain(unproven: string | null, failed: unknown): void {
  if (unproven !== null)
    throw failure(
      'INVALID_RECEIPT',
      `The scan proxy gave an answer that it cannot prove: ${unproven}. Do not use it.`,
    )
  if (failed !== null) throw failed
}

function noProxy(cause?: unknown): QuorumscanError {
  return failure(
    'INVALID_RESPONSE',
    'What answered is no scan proxy that this version of the SDK understands. Check the address.',
    { cause },
  )
}
