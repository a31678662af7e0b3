/**
 * Lookups through a validator's scan proxy. With the genesis document its answers are checked here, by
 * their receipts, so that it need not be trusted; without, it is the proxy that verified them.
 */
import {
  type CanonicalRequest,
  createFloor,
  entriesBytesMax,
  hashGenesis,
  type Lookup,
  type ReadOptions,
  type ReadRequest,
  requestOfEntries,
  requestOfLookup,
} from '@quorumscan/consensus'
import type { CertifiedEntry, CertifiedPage } from '@quorumscan/consensus/certified'
import { invalidArgument } from '../errors.ts'
import { isBatchAnswer, isVerifiedAnswer, isVerifiedBatchAnswer } from '../generated/checks.ts'
import { isEntryPage } from '../generated/entry-checks.ts'
import type { Http } from '../http/http.ts'
import { parseJson } from '../http/http-failures.ts'
import type { HttpReply, HttpRequest } from '../http/request.ts'
import type { Clock } from '../platform/clock.ts'
import { requireEd25519 } from '../platform/platform-crypto.ts'
import { type Store, storedValue, storeKey } from '../platform/store.ts'
import { type EntriesPage, isAnswered, type LookupSource, type ReadOutcome } from './lookups.ts'
import { ownError } from './outcome-error.ts'
import {
  type Facts,
  plainOutcome,
  proxyOutcome,
  receiptOutcome,
  type Trust,
  undecidedOutcome,
  unreadable,
  type Verified,
} from './proxy-outcome.ts'

const VERIFIED = 'application/vnd.quorumscan.verified+json'

export type ProxyOptions = {
  readonly http: Http
  readonly url: string
  readonly clock: Clock
  readonly store: Store
  /** null: the proxy is trusted. */
  readonly trust: Trust | null
}

/** Lookups, and what else a proxy says, judged as an answer over HTTP is. */
export type ProxySource = LookupSource & {
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
  const { http, trust, store } = options
  // The proxy has no genesis of its own to be named by; its address stands for the network.
  const network =
    trust === null
      ? Promise.resolve(encodeURIComponent(options.url))
      : hashGenesis(trust.genesis, trust.crypto)
  /** The highest offset that was verified here; the proxy keeps one of its own. */
  const floor = createFloor(storedValue(store, async () => storeKey(await network, 'floor'), 0))
  const loadFloor = async (): Promise<number> => {
    await floor.load()?.catch((error: unknown) => {
      throw ownError(error)
    })
    return floor.value()
  }

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

  return {
    verifiedBy: trust === null ? 'proxy' : 'self',
    storeKey: async (what) => storeKey(await network, what),
    async lookup(lookups, read) {
      checkBounds(read)
      if (lookups.length === 0) return []
      await requireCrypto()
      const isVerified = trust !== null || read.sign === true
      const minOffset = Math.max(read.minOffset ?? 0, trust === null ? 0 : await loadFloor())
      const reply = await send(
        {
          method: 'POST',
          path: '/v0/scan-proxy/ans-entries/batch',
          contentType: 'text/plain',
          headers: isVerified ? { accept: VERIFIED } : {},
          body: { lookups, ...(minOffset === 0 ? {} : { min_offset: minOffset }) },
        },
        read,
      )
      const undecided = undecidedOutcome(reply)
      if (undecided !== null) return lookups.map(() => undecided)
      const body = parseJson(reply.text)
      if (!isVerified) {
        if (!isBatchAnswer(body) || !isFor(lookups, body.results)) throw unreadable()
        return body.results.map((result) => entryOutcome(plainOutcome(result, reply)))
      }
      if (!isVerifiedBatchAnswer(body) || body.results.length !== lookups.length) throw unreadable()
      const asked = lookups.map((lookup) => ({
        request: requestOfLookup(lookup),
        read: { ...read, minOffset },
      }))
      const outcomes = await Promise.all(
        body.results.map((result, index) =>
          judgeOne(result, asked[index] as (typeof asked)[number], reply),
        ),
      )
      if (
        !isFor(
          lookups,
          body.results.map((result) => result.answer),
        )
      )
        throw unreadable()
      if (trust !== null)
        for (const outcome of outcomes) if (isAnswered(outcome)) floor.raise(outcome.offset)
      return outcomes.map(entryOutcome)
    },
    read,
    page: async (page, options) =>
      // `isValid` of the request.
      (await read(requestOf(page), options)) as ReadOutcome<CertifiedPage>,
    judge,
  }
}

/** As the reader of `createScan`, and in its words. */
function checkBounds({ minOffset = 0, maxAgeMs = 0 }: ReadOptions): void {
  if (!Number.isSafeInteger(minOffset) || minOffset < 0 || !(maxAgeMs >= 0))
    throw invalidArgument('minOffset is a whole number and maxAgeMs a number, neither is negative.')
}

/** Whether the answers are to these lookups. */
function isFor(lookups: readonly Lookup[], answers: readonly unknown[]): boolean {
  return (
    answers.length === lookups.length &&
    lookups.every((lookup, index) => {
      const { entry } = Object(answers[index]) as { entry?: { name: string; user: string } | null }
      if (entry === null) return true
      return 'name' in lookup ? entry?.name === lookup.name : entry?.user === lookup.party
    })
  )
}

/** The entry, which its checks have found to be one, or null. */
function entryOutcome(outcome: ReadOutcome): ReadOutcome<CertifiedEntry | null> {
  if (!isAnswered(outcome)) return outcome
  const { entry } = outcome.answer as { readonly entry: CertifiedEntry | null }
  return { ...outcome, answer: entry }
}

function requestOf({ prefix, pageSize, pageToken }: EntriesPage): ReadRequest {
  const query = [
    `name_prefix=${encodeURIComponent(prefix)}`,
    `page_size=${pageSize}`,
    ...(pageToken === null ? [] : [`page_token=${encodeURIComponent(pageToken)}`]),
  ]
  return {
    ...requestOfEntries({ name_prefix: prefix, page_size: pageSize, page_token: pageToken }),
    method: 'GET',
    path: `/v0/ans-entries?${query.join('&')}`,
    body: null,
    bytesMax: entriesBytesMax(pageSize),
    pin: pageToken === null ? 'reader' : 'request',
    isValid: isEntryPage,
  }
}
