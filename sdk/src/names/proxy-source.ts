/** Activities through a validator's scan proxy: by their receipts, or, without a genesis document, by its word. */
import type { CanonicalRequest, ReadOptions, ReadRequest } from '@quorumscan/consensus'
import { invalidArgument } from '../errors.ts'
import { isVerifiedAnswer } from '../generated/checks.ts'
import type { Http } from '../http/http.ts'
import { parseJson } from '../http/http-failures.ts'
import type { HttpReply, HttpRequest } from '../http/request.ts'
import type { Clock } from '../platform/clock.ts'
import { requireEd25519 } from '../platform/platform-crypto.ts'
import type { LookupSource, ReadOutcome } from './lookups.ts'
import {
  type Facts,
  proxyOutcome,
  receiptOutcome,
  undecidedOutcome,
  unreadable,
  type Verified,
} from './proxy-outcome.ts'
import type { Trust } from './proxy-reader.ts'

const VERIFIED = 'application/vnd.quorumscan.verified+json'

export type ProxyOptions = {
  readonly http: Http
  readonly clock: Clock
  /** null: the proxy is trusted. */
  readonly trust: Trust | null
}

/** What a proxy says, judged as an answer over HTTP is. */
export type ProxySource = Pick<LookupSource, 'read'> & {
  /**
   * What the answer to a request is worth: with a genesis what its receipt proves, else the proxy's word.
   *
   * @throws {QuorumscanError} INVALID_RESPONSE, INVALID_RECEIPT, CRYPTO_UNAVAILABLE.
   */
  judge(
    request: ReadRequest,
    read: ReadOptions,
    said: Facts & { readonly body: unknown },
  ): Promise<ReadOutcome>
}

export function createProxySource(options: ProxyOptions): ProxySource {
  const { http, trust } = options
  const send = (request: HttpRequest, read: ReadOptions): Promise<HttpReply> =>
    http.send({
      ...request,
      query: {
        ...request.query,
        ...(read.threshold === undefined ? {} : { quorum: read.threshold }),
      },
      headers: {
        ...request.headers,
        ...(read.maxAgeMs === undefined || read.maxAgeMs === Number.POSITIVE_INFINITY
          ? {}
          : { 'x-max-age-ms': String(Math.ceil(read.maxAgeMs)) }),
      },
      isSafe: true,
      isAuthenticated: false, // D-32: public, and a browser needs no preflight.
      isAnswer: (reply) => reply.status >= 500 && reply.header('x-quorum-outcome') !== null,
      signal: read.signal,
    })

  const judgeOne = async (
    body: Verified,
    asked: { readonly request: CanonicalRequest; readonly read: ReadOptions },
    reply: Facts,
  ): Promise<ReadOutcome> =>
    trust === null
      ? proxyOutcome(body, reply)
      : receiptOutcome({ ...trust, clock: options.clock }, { body, ...asked }, reply)

  let isAble: Promise<void> | undefined
  /** Before anything is asked. */
  const requireCrypto = async (): Promise<void> => {
    if (trust === null) return
    isAble ??= requireEd25519(trust.crypto, trust.genesis)
    await isAble
  }

  const judge: ProxySource['judge'] = async (request, read, { body, header }) => {
    await requireCrypto()
    if (!isVerifiedAnswer(body) || request.isValid?.(body.answer) === false) throw unreadable()
    // Without it nobody says that nodes agreed: that is another server, or a cache.
    if (header('x-quorum-outcome') === null) throw unreadable()
    const { operation, parameters } = request
    return judgeOne(body, { request: { operation, parameters }, read }, { header })
  }

  const read: LookupSource['read'] = async (request, options) => {
    checkBounds(options)
    await requireCrypto()
    const [path, search = ''] = request.path.split('?')
    const { minOffset } = options
    const reply = await send(
      {
        method: request.method,
        path: `${path}`.replace('/v0/', '/v0/scan-proxy/'),
        query: Object.fromEntries(new URLSearchParams(search)),
        ...(request.body === null
          ? {}
          : { body: JSON.parse(new TextDecoder().decode(request.body)) }),
        headers: {
          accept: VERIFIED,
          ...(minOffset === undefined ? {} : { 'x-min-offset': String(minOffset) }),
        },
      },
      options,
    )
    const undecided = undecidedOutcome(reply)
    if (undecided !== null) return undecided
    // A page after the first is read where the first was, however old that is by now (D-39).
    const bounds = request.pin === 'request' ? { maxAgeMs: Number.POSITIVE_INFINITY } : {}
    const said = { body: parseJson(reply.text), header: reply.header }
    return judge(request, { ...options, ...bounds }, said)
  }

  return { read, judge }
}

/** As the reader of `createScan`, and in its words. */
function checkBounds({ minOffset = 0, maxAgeMs = 0 }: ReadOptions): void {
  if (!Number.isSafeInteger(minOffset) || minOffset < 0 || !(maxAgeMs >= 0))
    throw invalidArgument('minOffset is a whole number and maxAgeMs a number, neither is negative.')
}
