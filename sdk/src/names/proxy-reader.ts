/**
 * A reader whose only address is a validator's scan proxy. The proxy answers from the local replica of
 * the validator, and each answer is verified here. Without a pinned genesis, that of the proxy is used, and the proxy is
 * trusted.
 */

import { GENESIS_BYTES_MAX, type Transport, type TransportRequest } from '@quorumscan/reader'
import type { CertifiedOutcome, CertifiedReader } from '@quorumscan/reader/certified'
import type { CryptoPort, Genesis } from '@quorumscan/verifier'
import { memberOf } from '@quorumscan/verifier'
import { CERTIFIED_MEDIA_TYPE, sha256 } from '@quorumscan/verifier/certified'
import { failure, type QuorumscanError } from '../errors.ts'
import type { Http } from '../http/http.ts'
import type { HttpReply, HttpRequest } from '../http/http-request.ts'
import type { Clock } from '../platform/clock.ts'
import { parseJson } from '../platform/parse-json.ts'
import { createMemoryValues, type SharedStore } from '../platform/shared-values.ts'
import type { Later } from '../scan-later.ts'
import { type OpenedReader, openReader } from './open-reader.ts'

/** The pinned genesis, and the crypto that verifies answers. */
export type ProxyPin = {
  readonly genesis: Genesis | string
  /** Default: that of the platform. */
  readonly crypto: CryptoPort | undefined
}

/** Accepts all signatures: keys that the proxy itself has sent prove nothing. */
const TRUSTING: CryptoPort = {
  sha256: async (bytes) => new Uint8Array(sha256(bytes)),
  verifyEd25519: async () => true,
}
/** Codes of the proxy if neither it nor its nodes have an answer. */
const UNPROVEN = new Set<unknown>(['NO_CERTIFICATE', 'CONSENSUS_LAGGING', 'NOT_ENOUGH_NODES'])
const GENESIS_PATH = '/v0/genesis'
/** All requests are public (D-32), so that a browser needs no preflight. */
const PUBLIC = { isSafe: true, isAuthenticated: false } as const

/**
 * @param options.pin - null: the proxy is trusted.
 * @throws {QuorumscanError} If the proxy does not serve its genesis; CRYPTO_UNAVAILABLE.
 */
export async function openProxyReader(options: {
  readonly http: Http
  readonly url: string
  readonly clock: Clock
  readonly shared: SharedStore
  readonly pin: ProxyPin | null
  readonly extras: Later['extras']
}): Promise<OpenedReader> {
  const { http, url, clock, pin, extras } = options
  const { transport, lastFailure } = createProxyTransport(http, url)
  const { reader, ...opened } = await openReader({
    genesis: pin?.genesis ?? (await proxyGenesis(options)),
    ...(pin === null ? { crypto: TRUSTING } : pin.crypto && { crypto: pin.crypto }),
    seeds: [url],
    proxy: { transport, isTrusted: pin === null },
    clock,
    extras,
    // The offsets of a trusted proxy are no floor for other clients.
    shared: pin === null ? createMemoryValues() : options.shared,
    signal: new AbortController().signal,
  })
  /** Throws the proxy's own failure, which explains a missing answer better than the outcome. */
  const explained = <Outcome extends CertifiedOutcome<unknown>>(outcome: Outcome): Outcome => {
    if (outcome.kind !== 'insufficient') return outcome
    if (outcome.unproven !== null) {
      const message = `The scan proxy sent an answer without a valid proof: ${outcome.unproven}. Do not use it.`
      throw failure('INVALID_RECEIPT', message)
    }
    const failed = lastFailure()
    if (failed !== null) throw failed
    return outcome
  }
  const explaining: CertifiedReader = {
    ...reader,
    lookup: async (...input) => (await reader.lookup(...input)).map(explained),
    read: async (...input) => explained(await reader.read(...input)),
  }
  return { ...opened, reader: explaining }
}

async function proxyGenesis({
  http,
  url,
  extras,
}: Pick<Parameters<typeof openProxyReader>[0], 'http' | 'url' | 'extras'>): Promise<Genesis> {
  const path = '/v0/scan-proxy/genesis'
  const bytesMax = GENESIS_BYTES_MAX
  const send = http.send({ ...PUBLIC, method: 'GET', path, bytesMax })
  const [reply, { parseGenesis }] = await Promise.all([send, extras()])
  try {
    return parseGenesis(parseJson(reply.text))
  } catch (cause) {
    throw noProxy(url, cause)
  }
}

/** Sends requests of the reader by the routes of the scan proxy. `lastFailure` is the error of the last one. */
function createProxyTransport(http: Http, url: string) {
  let failed: unknown = null
  const request: Transport['request'] = async (input) => {
    failed = null
    try {
      const reply = await http.send({
        ...PUBLIC,
        ...proxyRequest(input),
        bytesMax: input.bytesMax,
        signal: input.signal,
      })
      const isDocument = reply.header('content-type')?.startsWith(CERTIFIED_MEDIA_TYPE)
      const isGenesis = input.path === GENESIS_PATH // Its hash is verified.
      if (reply.status === 200 && isDocument !== true && !isGenesis) throw noProxy(url)
      const body = new TextEncoder().encode(reply.text)
      return { status: reply.status, header: reply.header, body }
    } catch (error) {
      // A request that the reader aborted is no failure of the proxy.
      if (!input.signal.aborted) failed = error
      throw error
    }
  }
  return { transport: { request }, lastFailure: () => failed }
}

/** The proxy takes the threshold as `quorum`, and the floor of a GET in a header. */
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

/** Refusals that the reader turns into outcomes: a walk has expired, or neither the proxy nor nodes have a proof. */
function isRefusal({ status, text }: HttpReply): boolean {
  return status === 410 || UNPROVEN.has(memberOf(parseJson(text), 'code'))
}

function noProxy(url: string, cause?: unknown): QuorumscanError {
  const message = `${url} is not a validator whose scan proxy this version of the SDK understands. Check the address.`
  return failure('INVALID_RESPONSE', message, { cause })
}
