/**
 * Lookups through a validator's scan proxy. With the genesis document its answers are checked here, by
 * their receipts, so that it need not be trusted; without, it is the proxy that verified them.
 */
import {
  type CryptoPort,
  type Decided,
  type Genesis,
  hashGenesis,
  isDecided,
  type Lookup,
  maxFaulty,
  type Outcome,
  parseInstant,
  parseReceipt,
  type ReadOptions,
  type ReadRequest,
  type Receipt,
  ReceiptError,
  requestOfLookup,
  thresholdVotes,
  type VoteGroup,
  verifyReceipt,
} from '@quorumscan/consensus'
import type { Clock } from './clock.ts'
import { invalidArgument, QuorumscanError } from './errors.ts'
import { isBatchAnswer, isVerifiedAnswer, isVerifiedBatchAnswer } from './generated/checks.ts'
import type { Http, HttpReply, HttpRequest } from './http.ts'
import { parseJson } from './http-failures.ts'
import type { LookupSource } from './lookups.ts'
import { requireEd25519 } from './platform-crypto.ts'
import { type Store, storeKey } from './store.ts'

const VERIFIED = 'application/vnd.quorumscan.verified+json'
const ABSENT = '{"entry":null}'
const MAX_AGE_MS = 60_000 // D-39.
const RETRY_AFTER_MS = 250

export type ProxyOptions = {
  readonly http: Http
  readonly url: string
  readonly clock: Clock
  readonly store: Store
  /** null: the proxy is trusted. */
  readonly trust: Trust | null
}

/** What answers are checked with. */
type Trust = { readonly genesis: Genesis; readonly crypto: CryptoPort }

type Verified = { readonly status: number; readonly answer: unknown; readonly receipt: unknown }

export function createProxySource(options: ProxyOptions): LookupSource {
  const { http, trust, store } = options
  const receipts = new WeakMap<Outcome, Receipt>()
  // The proxy has no genesis of its own to be named by; its address stands for the network.
  const network =
    trust === null
      ? Promise.resolve(encodeURIComponent(options.url))
      : hashGenesis(trust.genesis, trust.crypto)
  let floor: Promise<number> | undefined

  /** The highest offset that was verified here; the proxy keeps one of its own. */
  const loadFloor = async (): Promise<number> => {
    floor ??= (async () => Number((await store.get(storeKey(await network, 'floor'))) ?? 0))()
    return floor
  }
  const raiseFloor = async (offset: number): Promise<void> => {
    if (offset <= (await loadFloor())) return
    floor = Promise.resolve(offset)
    await store.set(storeKey(await network, 'floor'), String(offset))
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

  const judge = async (
    body: Verified,
    asked: { readonly request: ReturnType<typeof requestOfLookup>; readonly read: ReadOptions },
    reply: HttpReply,
  ): Promise<Outcome> => {
    const outcome =
      trust === null
        ? proxyVerified(body, reply)
        : await checked({ ...trust, clock: options.clock }, { body, ...asked }, reply)
    if (isDecided(outcome)) receipts.set(outcome, parseReceipt(body.receipt))
    return outcome
  }

  let isAble: Promise<void> | undefined
  /** Before anything is asked. */
  const requireCrypto = async (): Promise<void> => {
    if (trust === null) return
    isAble ??= requireEd25519(trust.crypto, trust.genesis)
    await isAble
  }

  return {
    verifiedBy: trust === null ? 'proxy' : 'self',
    storeKey: async (what) => storeKey(await network, what),
    async lookup(lookups, read) {
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
        return body.results.map((result) => plainOutcome(result, reply))
      }
      if (!isVerifiedBatchAnswer(body) || body.results.length !== lookups.length) throw unreadable()
      const asked = lookups.map((lookup) => ({
        request: requestOfLookup(lookup),
        read: { ...read, minOffset },
      }))
      const outcomes = await Promise.all(
        body.results.map((result, index) =>
          judge(result, asked[index] as (typeof asked)[number], reply),
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
        for (const outcome of outcomes) if (isDecided(outcome)) await raiseFloor(outcome.offset)
      return outcomes
    },
    async read(request: ReadRequest, read) {
      await requireCrypto()
      const [path, search = ''] = request.path.split('?')
      const reply = await send(
        {
          method: request.method,
          path: `${path}`.replace('/v0/', '/v0/scan-proxy/'),
          query: Object.fromEntries(new URLSearchParams(search)),
          ...(request.body === null ? {} : { body: JSON.parse(decode(request.body)) }),
          headers: {
            accept: VERIFIED,
            ...(read.minOffset === undefined ? {} : { 'x-min-offset': String(read.minOffset) }),
          },
        },
        read,
      )
      const undecided = undecidedOutcome(reply)
      if (undecided !== null) return undecided
      const body = parseJson(reply.text)
      if (!isVerifiedAnswer(body) || request.isValid?.(body.answer) === false) throw unreadable()
      const { operation, parameters } = request
      // A page after the first is read where the first was, however old that is by now (D-39).
      const bounds = request.pin === 'request' ? { maxAgeMs: Number.POSITIVE_INFINITY } : {}
      return judge(
        body,
        { request: { operation, parameters }, read: { ...read, ...bounds } },
        reply,
      )
    },
    receipt: async (outcome) => receipts.get(outcome) ?? null,
  }
}

/** What the receipt proves, and nothing that the proxy says beside it. */
async function checked(
  options: Trust & { readonly clock: Clock },
  asked: {
    readonly body: Verified
    readonly request: ReturnType<typeof requestOfLookup>
    readonly read: ReadOptions
  },
  reply: HttpReply,
): Promise<Outcome> {
  const { genesis, clock, crypto } = options
  const { body, request, read } = asked
  const nodeCount = genesis.nodes.length
  const threshold = thresholdVotes(read.threshold ?? 'weak', nodeCount)
  if (threshold === undefined)
    throw invalidArgument(
      `The threshold is not within ${maxFaulty(nodeCount) + 1} to ${nodeCount}.`,
    )
  const receipt = await verifyReceipt(body.receipt, {
    genesis,
    request,
    threshold,
    crypto,
  }).catch((cause: unknown) => {
    if (!(cause instanceof ReceiptError)) throw cause
    throw new QuorumscanError(
      `The scan proxy gave an answer that it cannot prove: ${cause.message}. Do not use it.`,
      { code: 'INVALID_RECEIPT', definite: true, retryable: false, cause },
    )
  })
  const part = {
    threshold,
    nodeCount,
    answered: receipt.signers.length,
    agreed: receipt.signers,
    dissented: [],
  }
  const ageMs = (clock.nowMicros() - receipt.recordTime) / 1000
  const wantedOffset = read.minOffset ?? 0
  const isStale = ageMs > (read.maxAgeMs ?? MAX_AGE_MS)
  if (isStale || receipt.offset < wantedOffset)
    return {
      kind: 'lagging',
      reason: isStale ? 'stale' : 'floor',
      wantedOffset,
      headOffset: receipt.offset,
      ageMs: isStale ? Math.ceil(ageMs) : null,
      retryAfterMs: RETRY_AFTER_MS,
      ...part,
    }
  return {
    kind: kindOf(decode(receipt.answer) === ABSENT, maxFaulty(nodeCount) === 0),
    answer: receipt.answer,
    offset: receipt.offset,
    recordTime: receipt.recordTime,
    historyHash: receipt.historyHash,
    signatures: parseReceipt(body.receipt).signatures,
    ...part,
    dissented: names(reply, 'x-quorum-dissented'),
  }
}

/** The proxy's word, with the receipt that it gave for others to check. */
function proxyVerified(body: Verified, reply: HttpReply): Decided {
  const receipt = parseReceipt(body.receipt)
  return {
    ...plainOutcome(body.answer, reply),
    offset: receipt.offset,
    recordTime: receipt.record_time,
    historyHash: receipt.history_hash,
    signatures: receipt.signatures,
  }
}

function plainOutcome(answer: unknown, reply: HttpReply): Decided {
  const text = JSON.stringify(answer)
  return {
    kind: kindOf(text === ABSENT, reply.header('x-quorum-outcome')?.startsWith('trusted') === true),
    answer: new TextEncoder().encode(text),
    offset: Number(reply.header('x-quorum-offset') ?? 0),
    recordTime: parseInstant(reply.header('x-quorum-record-time') ?? '') ?? 0,
    historyHash: '',
    signatures: [],
    ...participation(reply),
  }
}

function kindOf(isAbsent: boolean, isTrusted: boolean): Decided['kind'] {
  if (isTrusted) return isAbsent ? 'trusted-absent' : 'trusted'
  return isAbsent ? 'verified-absent' : 'verified'
}

/** D-38, back from the error body; null: the proxy decided. */
function undecidedOutcome(reply: HttpReply): Exclude<Outcome, Decided> | null {
  const kind = reply.header('x-quorum-outcome')
  if (reply.status < 500) {
    // Without it nobody says that nodes agreed: that is another server, or a cache.
    if (kind === null) throw unreadable()
    return null
  }
  const details = Object(Object(parseJson(reply.text)).details) as Record<string, unknown>
  const part = participation(reply)
  const count = (name: string) => (typeof details[name] === 'number' ? details[name] : null)
  switch (kind) {
    case 'disputed':
      return {
        kind,
        reason: details['reason'] === 'fork' ? 'fork' : 'votes',
        groups: Array.isArray(details['groups']) ? details['groups'].map(toGroup) : [],
        ...part,
      }
    case 'insufficient':
      return {
        kind,
        reachable: count('reachable') ?? 0,
        needed: count('needed') ?? part.threshold,
        ...part,
      }
    case 'lagging': {
      const { reason } = details
      return {
        kind,
        reason: reason === 'stale' || reason === 'floor' ? reason : 'not-reached',
        wantedOffset: count('wanted_offset') ?? 0,
        headOffset: count('head_offset'),
        ageMs: count('age_ms'),
        retryAfterMs: Number(reply.header('retry-after') ?? 1) * 1000,
        ...part,
      }
    }
    default:
      throw unreadable()
  }
}

function toGroup(value: unknown): VoteGroup {
  const group = Object(value) as Record<string, unknown>
  return {
    nodes: Array.isArray(group['nodes']) ? group['nodes'].map(String) : [],
    offset: Number(group['offset']),
    recordTime: parseInstant(String(group['record_time'])) ?? 0,
    historyHash: String(group['history_hash']),
    answerDigest: String(group['answer_digest']),
    entry: (group['entry'] ?? null) as VoteGroup['entry'], // For showing; the proxy cut it to size.
  }
}

function participation(reply: HttpReply) {
  const [answered, nodeCount] = (reply.header('x-quorum-nodes') ?? '0/0').split('/').map(Number)
  return {
    threshold: Number(reply.header('x-quorum-threshold') ?? 0),
    nodeCount: nodeCount ?? 0,
    answered: answered ?? 0,
    agreed: names(reply, 'x-quorum-agreed'),
    dissented: names(reply, 'x-quorum-dissented'),
  }
}

function names(reply: HttpReply, header: string): readonly string[] {
  return (reply.header(header) ?? '').split(',').filter((name) => name !== '')
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

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

function unreadable(): QuorumscanError {
  return new QuorumscanError(
    'What answered is no scan proxy that this version of the SDK understands. Check the address.',
    { code: 'INVALID_RESPONSE', definite: true, retryable: false },
  )
}
