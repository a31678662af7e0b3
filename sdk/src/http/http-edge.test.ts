/** The HTTP edge of the validator client: which requests are repeated, and the error of every failure. */

import { gzipSync } from 'node:zlib'
import { createTestNetwork } from '@quorumscan/testkit'
import { memberOf } from '@quorumscan/verifier'
import nock from 'nock'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { isErrorCode } from '../known-errors.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { parseParty } from '../platform/parse-party.ts'
import type { ContractId } from '../platform/values.ts'
import { createValidator, type Validator } from '../validator.ts'
import type { ValidatorOptions } from '../validator-options.ts'

const URL = 'http://validator.test'
const PARTY = `alice::1220${'a'.repeat(64)}`
const BALANCE = {
  round: 1,
  effective_unlocked_qty: '1.0000000000',
  effective_locked_qty: '0.0000000000',
  total_holding_fees: '0.0000000000',
}
const refusal = (code: string, facts: { definite?: boolean; retryable?: boolean } = {}) => ({
  error: `no: ${code}`,
  code,
  definite: true,
  retryable: false,
  request_id: 'r-1',
  details: null,
  ...facts,
})

/** Pauses are shorter. */
const DEADLINE_MS = 8000

/** Delays end at once and are recorded; the deadline comes only if a test says so. */
let delays: number[]
let isLate: boolean
const clock: Clock = {
  ...systemClock,
  delay(ms, signal) {
    delays.push(ms)
    if (ms < DEADLINE_MS || isLate) return Promise.resolve()
    return new Promise((_, reject) =>
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true }),
    )
  },
}
const pauses = () => delays.filter((ms) => ms < DEADLINE_MS)
const connect = (options: Partial<ValidatorOptions> = {}) =>
  createValidator({ url: `${URL}/`, token: 't-1', clock, random: () => 0.5, ...options })

beforeAll(() => nock.disableNetConnect())
beforeEach(() => {
  delays = []
  isLate = false
})
afterEach(() => {
  const pending = nock.pendingMocks()
  nock.cleanAll()
  expect(pending).toEqual([])
})
afterAll(() => nock.enableNetConnect())

describe('a request', () => {
  it('without a body has no content type; with one it is JSON; both carry the token', async () => {
    nock(URL, { badheaders: ['content-type'] })
      .get('/v0/wallet/balance')
      .matchHeader('authorization', 'Bearer t-1')
      .reply(200, BALANCE)
    nock(URL)
      .post('/v0/wallet/tap', { amount: '1.0', command_id: 'c-1' })
      .matchHeader('content-type', 'application/json')
      .reply(200, { contract_id: `00${'b'.repeat(64)}` })
    expect(await connect().wallet.balance()).toMatchObject({ effectiveUnlockedQty: '1.0000000000' })
    await connect().wallet.tap({ usd: '1.0', commandId: 'c-1' })
  })

  it('sends the trace context of each request, and no invalid one', async () => {
    const trace = (span: string) => `00-${'ab'.repeat(16)}-${span.repeat(8)}-01`
    const told = [trace('cd'), null, undefined, 'hello\nx: y', trace('ef')]
    const seen: (string | null)[] = []
    for (const _ of told)
      nock(URL)
        .get('/v0/wallet/balance')
        .reply(200, function () {
          seen.push(new Headers(this.req.headers as HeadersInit).get('traceparent'))
          return BALANCE
        })
    const left = [...told]
    const { wallet } = connect({ traceparent: () => left.shift() })
    for (const _ of told) await wallet.balance()
    expect(seen).toEqual([trace('cd'), null, null, null, trace('ef')])
  })

  it('reports its offset to other clients, for writes and for reads', async () => {
    const at = (offset: string) => ({ 'x-ledger-offset': offset })
    nock(URL).get('/v0/wallet/balance').reply(200, BALANCE, at('12'))
    nock(URL).delete('/v0/wallet/subscription-requests/00bb').reply(200, {}, at('9'))
    nock(URL)
      .post('/v0/wallet/tap')
      .reply(200, { contract_id: `00${'b'.repeat(64)}` }, at('15'))
    nock(URL).post('/v0/register').reply(200, { party_id: PARTY }, at('16'))
    const { wallet, writtenOffset } = connect()
    await wallet.balance()
    expect(await writtenOffset()).toBe(12)
    expect(await wallet.cancelSubscription('00bb' as ContractId)).toEqual({ offset: 12 })
    expect(await writtenOffset()).toBe(12)
    expect(await wallet.tap({ usd: '1.0' })).toMatchObject({ offset: 15 })
    expect(await writtenOffset()).toBe(15)
    // A repeatable operation that writes, too.
    expect(await wallet.party()).toBe(PARTY)
    expect(await writtenOffset()).toBe(16)
  })

  it('to the ledger interface goes to the root, also if the validator is under a prefix', async () => {
    const prefixed = connect({ url: `${URL}/api/validator/` })
    const elsewhere = connect({ url: `${URL}/api/validator`, ledgerUrl: 'http://ledger.test/' })
    for (const [{ updates }, host] of [
      [prefixed, URL],
      [elsewhere, 'http://ledger.test'],
    ] as const) {
      const page = nock(host).get('/v2/state/ledger-end').reply(200, { offset: 0 })
      for await (const _ of updates({ parties: [PARTY], follow: false })) throw new Error('none')
      expect(page.isDone()).toBe(true)
    }
  })

  it('that the ledger interface cannot decode is an invalid argument, with the reason', async () => {
    const submit = () => connect().commands.submit({ actAs: [PARTY], commands: [] })
    for (const [text, code] of [
      ['Invalid value for: body (missing required field at commands)', 'INVALID_ARGUMENT'],
      ['<h1>Bad Request</h1>', 'INVALID_RESPONSE'],
    ] as const) {
      nock(URL).get('/v2/state/ledger-end').reply(200, { offset: 0 })
      nock(URL)
        .post('/v2/commands/submit-and-wait')
        .reply(400, text, { 'content-type': 'text/plain' })
      expect(await submit()).toMatchObject({
        kind: 'rejected',
        error: { code, definite: true, message: expect.stringContaining(text) },
      })
    }
  })

  it('that is refused names members as its caller does', async () => {
    const error = 'body.receiver_party_id is not a party, body.expires_at is required'
    const body = { ...refusal('INVALID_ARGUMENT'), error }
    nock(URL).post('/v0/wallet/token-standard/transfers').reply(400, body)
    const status = { party_id: PARTY, user_onboarded: true, user_wallet_installed: true }
    nock(URL)
      .get('/v0/wallet/user-status')
      .reply(200, { ...status, has_featured_app_right: false })
    nock(URL).get('/v2/state/ledger-end').reply(200, { offset: 5 })
    expect(
      await connect().payments.transfer({ receiver: parseParty(PARTY), coin: '1' }),
    ).toMatchObject({
      kind: 'refused',
      error: { message: 'receiver is not a party, expiresAt is required' },
    })
  })

  it('is done, whatever else its answer says: what it is not is no reason to pay again', async () => {
    const status = { party_id: PARTY, user_onboarded: true, user_wallet_installed: true }
    nock(URL)
      .get('/v0/wallet/user-status')
      .reply(200, { ...status, has_featured_app_right: false })
    nock(URL).get('/v2/state/ledger-end').reply(200, { offset: 5 })
    const meta = { update_id: 'u', offset: 6, record_time: '2026-01-01T00:00:00.000000Z' }
    nock(URL)
      .post('/v0/wallet/token-standard/transfers')
      .reply(200, {
        output: { tag: 'TransferInstructionResult_Completed', receiver_holding_cids: [] },
        sender_change_cids: [],
        meta: { ...meta, party: 'no party' },
        ...meta,
      })
    expect(
      await connect().payments.transfer({ receiver: parseParty(PARTY), coin: '1' }),
    ).toMatchObject({ kind: 'done', updateId: 'u' })
  })

  it('is not made for a receiver that is no party', async () => {
    // No address answers: a request would be refused as NETWORK_ERROR.
    const paying = connect().payments.transfer({ receiver: 'bob' as never, coin: '1' })
    await expect(paying).rejects.toMatchObject({ code: 'INVALID_PARTY' })
  })

  it('is refused before it is made if the url is invalid', () => {
    for (const url of ['validator.example.com', 'ftp://h', undefined as unknown as string])
      expect(() => connect({ url })).toThrow(
        expect.objectContaining({
          code: 'INVALID_ARGUMENT',
          message: expect.stringMatching(/url/),
        }),
      )
  })
})

describe('a list of the wallet', () => {
  it('reads as many pages as its limit needs', async () => {
    const offer = (id: string) => ({
      contract_id: `00${id.repeat(64)}`,
      template_id: 'package:Coin.Transfer:TransferInstruction',
      payload: {},
      created_at: '2026-01-01T00:00:00.000000Z',
      created_event_blob: '',
    })
    const page = (query: object, ids: string, next: string | null) =>
      nock(URL)
        .get('/v0/wallet/token-standard/transfers')
        .query({ order: 'amount', sender: PARTY, ...query })
        .reply(200, { transfers: [...ids].map(offer), next_page_token: next })
    page({ page_size: 3 }, 'ab', 'first')
    page({ page_size: 1, page_token: 'first' }, 'c', 'second')
    const found = await connect().wallet.transfers({ order: 'amount', sender: PARTY, limit: 3 })
    expect(found.map(({ contractId }) => contractId[2]).join('')).toBe('abc')
    nock(URL)
      .get('/v0/wallet/coins')
      .query({ order: 'newest', page_size: 100 })
      .reply(200, { coins: [], locked_coins: [], next_page_token: null })
    expect(await connect().wallet.coins()).toEqual({ coins: [], lockedCoins: [] })
  })
})

describe('a read', () => {
  it.each([502, 503, 504])(
    'is repeated after %i, with growing pauses, three times at most',
    async (status) => {
      nock(URL).get('/v0/wallet/balance').times(3).reply(status, '')
      await expect(connect().wallet.balance()).rejects.toMatchObject({
        code: 'INVALID_RESPONSE',
        status,
        definite: true,
        retryable: true,
      })
      expect(pauses()).toEqual([150, 300])
    },
  )

  it('is repeated after a broken connection, and its answer is used', async () => {
    nock(URL).get('/v0/wallet/balance').replyWithError('reset')
    nock(URL).get('/v0/wallet/balance').reply(200, BALANCE)
    expect(await connect().wallet.balance()).toMatchObject({ round: 1 })
  })

  it('that never gets through fails', async () => {
    nock(URL).get('/v0/wallet/balance').times(3).replyWithError('reset')
    await expect(connect().wallet.balance()).rejects.toMatchObject({
      code: 'NETWORK_ERROR',
      status: null,
      definite: true,
      message: expect.stringContaining('Is the server running'),
    })
  })

  it('waits as long as the server asks', async () => {
    nock(URL)
      .get('/v0/wallet/balance')
      .reply(429, refusal('RATE_LIMITED', { retryable: true }), { 'retry-after': '3' })
    nock(URL).get('/v0/wallet/balance').reply(200, BALANCE)
    await connect().wallet.balance()
    expect(pauses()).toEqual([3000])
  })

  it('that is asked to wait beyond its deadline fails with the reply', async () => {
    nock(URL)
      .get('/v0/wallet/balance')
      .reply(429, refusal('RATE_LIMITED', { retryable: true }), { 'retry-after': '10' })
    await expect(connect().wallet.balance()).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      status: 429,
      retryAfterMs: 10_000,
    })
    expect(pauses()).toEqual([])
  })

  it('is not repeated after 404, even if its body allows it', async () => {
    nock(URL)
      .get('/v0/wallet/balance')
      .reply(404, refusal('WALLET_NOT_FOUND', { retryable: true }))
    await expect(connect().wallet.balance()).rejects.toMatchObject({ status: 404 })
    expect(pauses()).toEqual([])
  })

  it.each([
    [400, 'INVALID_ARGUMENT'],
    [404, 'CONTRACT_NOT_FOUND'],
    [404, 'WALLET_NOT_FOUND'],
  ])('is never repeated after %i %s', async (status, code) => {
    nock(URL).get('/v0/wallet/balance').reply(status, refusal(code))
    await expect(connect().wallet.balance()).rejects.toMatchObject({
      name: 'QuorumscanError',
      code,
      status,
      definite: true,
      retryable: false,
      requestId: 'r-1',
      message: `no: ${code}`,
    })
    expect(pauses()).toEqual([])
  })

  it.each([404, 500])(
    'that is answered with an empty body and status %i is an error',
    async (status) => {
      nock(URL)
        .get('/v0/wallet/balance')
        .times(status === 500 ? 3 : 1)
        .reply(status)
      await expect(connect().wallet.balance()).rejects.toMatchObject({
        code: 'INVALID_RESPONSE',
        status,
      })
    },
  )

  it.each([
    ['truncated JSON', '{"round":1,"effective_unl'],
    ['no JSON', '<h1>Welcome</h1>'],
    ['nothing', ''],
    ['another shape', '{"round":"1"}'],
    ['an invalid number', JSON.stringify({ ...BALANCE, effective_locked_qty: '1e9' })],
  ])('that is answered with %s is refused', async (_, body) => {
    nock(URL).get('/v0/wallet/balance').reply(200, body, { 'content-type': 'application/json' })
    await expect(connect().wallet.balance()).rejects.toMatchObject({
      code: 'INVALID_RESPONSE',
      status: 200,
      retryable: false,
    })
  })

  it('accepts members that it does not know', async () => {
    nock(URL)
      .get('/v0/wallet/balance')
      .reply(200, { ...BALANCE, newer: true })
    expect(await connect().wallet.balance()).toMatchObject({ round: 1 })
  })

  it('that is refused with control characters has a message without them', async () => {
    const error = 'no\u001b[2J \u202edetrever\u200b'
    nock(URL)
      .get('/v0/wallet/balance')
      .reply(400, { ...refusal('INVALID_ARGUMENT'), error })
    await expect(connect().wallet.balance()).rejects.toMatchObject({
      message: 'no\ufffd[2J \ufffddetrever\ufffd',
    })
  })

  it('follows no redirect, and does not send the token there', async () => {
    nock(URL)
      .get('/v0/wallet/balance')
      .reply(307, '', { location: 'http://elsewhere.test/v0/wallet/balance' })
    await expect(connect().wallet.balance()).rejects.toMatchObject({
      code: 'INVALID_RESPONSE',
      status: 307,
      message: expect.stringContaining('http://elsewhere.test/'),
    })
  })

  it('ends at the deadline', async () => {
    isLate = true
    nock(URL).get('/v0/wallet/balance').delay(60_000).reply(200, BALANCE)
    await expect(connect().wallet.balance()).rejects.toMatchObject({
      code: 'TIMEOUT',
      definite: true,
      retryable: true,
      message: expect.stringContaining('within 10000 ms'),
    })
    nock.cleanAll() // The deadline may have come before the request was sent.
  })

  it('ends with the reason of the signal', async () => {
    nock(URL).get('/v0/wallet/balance').delay(60_000).reply(200, BALANCE)
    const abort = new AbortController()
    const pending = connect().wallet.balance({ signal: abort.signal })
    abort.abort(new Error('gone'))
    await expect(pending).rejects.toThrow(/^gone$/)
    nock.abortPendingRequests()
    nock.cleanAll()
  })
})

describe('a write', () => {
  const tap = (options?: Partial<ValidatorOptions>) => connect(options).wallet.tap({ usd: '1.0' })

  it('is not repeated if it may have happened, and is not definite', async () => {
    nock(URL).post('/v0/wallet/tap').replyWithError('reset')
    await expect(tap()).rejects.toMatchObject({
      code: 'NETWORK_ERROR',
      definite: false,
      message: expect.stringContaining('may or may not'),
    })
    nock(URL).post('/v0/wallet/tap').reply(502, '')
    await expect(tap()).rejects.toMatchObject({ code: 'INVALID_RESPONSE', definite: false })
    nock(URL)
      .post('/v0/wallet/tap')
      .reply(504, refusal('SUBMISSION_UNKNOWN', { definite: false, retryable: true }))
    await expect(tap()).rejects.toMatchObject({ code: 'SUBMISSION_UNKNOWN', definite: false })
    expect(pauses()).toEqual([])
  })

  it('is repeated if it certainly did not happen', async () => {
    nock(URL)
      .post('/v0/wallet/tap')
      .reply(503, refusal('OVERLOADED', { retryable: true }))
    nock(URL)
      .post('/v0/wallet/tap')
      .reply(200, { contract_id: `00${'b'.repeat(64)}` })
    await tap()
    expect(pauses()).toEqual([150])
  })

  it('that was refused did not happen, for any `retry-after`', async () => {
    nock(URL)
      .post('/v0/wallet/tap')
      .reply(429, refusal('RATE_LIMITED', { retryable: true }), { 'retry-after': '60' })
    await expect(tap()).rejects.toMatchObject({ code: 'RATE_LIMITED', definite: true })
  })

  it('whose answer cannot be read may have happened', async () => {
    nock(URL).post('/v0/wallet/tap').reply(200, '{"contract_')
    await expect(tap()).rejects.toMatchObject({ code: 'INVALID_RESPONSE', definite: false })
  })

  it('that ends at the deadline may have happened', async () => {
    isLate = true
    nock(URL).post('/v0/wallet/tap').delay(60_000).reply(200, {})
    await expect(tap()).rejects.toMatchObject({ code: 'TIMEOUT', definite: false })
    nock.cleanAll()
  })
})

it('a page that is neither https nor localhost has no crypto.randomUUID, and needs none', async () => {
  const { subtle: _, randomUUID: __, ...rest } = globalThis.crypto
  const getRandomValues = crypto.getRandomValues.bind(crypto)
  vi.stubGlobal('crypto', { ...rest, getRandomValues })
  const ids: string[] = []
  nock(URL)
    .post('/v0/wallet/tap', ({ command_id }) => ids.push(command_id) > 0)
    .times(2)
    .reply(200, { contract_id: `00${'b'.repeat(64)}` })
  for (const _ of [1, 2]) await connect().wallet.tap({ usd: '1.0' })
  vi.unstubAllGlobals()
  expect(new Set(ids).size).toBe(2)
  expect(ids).toEqual([1, 2].map(() => expect.stringMatching(/^[0-9a-f]{32}$/)))
})

it('a call without a timeout never times out', async () => {
  nock(URL).get('/v0/wallet/balance').reply(200, BALANCE)
  const forever = connect({ clock: systemClock, timeoutMs: Number.POSITIVE_INFINITY })
  expect(await forever.wallet.balance()).toMatchObject({ round: 1 })
  // Timers of platforms end at once beyond 24 days.
  const started = vi.spyOn(globalThis, 'setTimeout')
  const leaving = new AbortController()
  const deadline = systemClock.delay(Number.POSITIVE_INFINITY, leaving.signal)
  const [[, ms] = []] = started.mock.calls
  vi.restoreAllMocks()
  leaving.abort(new Error('left'))
  await expect(deadline).rejects.toThrow('left')
  expect(ms).toBe(2 ** 31 - 1)
})

it('the `fetch` of a page can be passed as it is: it refuses to be called on another object', async () => {
  function fetch(this: unknown) {
    if (this !== undefined) throw new TypeError('Illegal invocation')
    return Promise.resolve(Response.json(BALANCE))
  }
  const { wallet } = connect({ fetch: fetch as typeof globalThis.fetch })
  expect(await wallet.balance()).toMatchObject({ round: 1 })
})

it('an argument that is not JSON is no failure of the network', async () => {
  const fetch = async () => Response.json(BALANCE)
  const amount = 1n as unknown as string
  const tap = connect({ fetch }).wallet.tap({ usd: amount })
  await expect(tap).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', definite: true })
})

describe('an answer without an end', () => {
  const PIECE = new Uint8Array(2 ** 16).fill(0x20)
  /** Counts what was requested, and how much of the answers was read. */
  const endless = (status = 200) => {
    const seen = { requests: 0, bytes: 0, isClosed: false }
    const fetch = async () => {
      seen.requests++
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          seen.bytes += PIECE.byteLength
          controller.enqueue(PIECE)
        },
        cancel() {
          seen.isClosed = true
        },
      })
      const headers = { 'content-type': 'application/vnd.quorumscan.certified+json' }
      return new Response(body, { status, headers })
    }
    return { seen, fetch }
  }
  const { genesis } = createTestNetwork()
  const lookup = { genesis, clock: systemClock }
  const collect = async (items: AsyncIterable<unknown>) => {
    for await (const _ of items) throw new Error('none')
  }

  it.each([
    ['an object', 4, true, {}, ({ wallet }) => wallet.balance()],
    ['a list', 32, true, {}, ({ wallet }) => wallet.coins()],
    ['a page', 32, true, {}, ({ wallet }) => collect(wallet.transactions())],
    ['a write', 4, false, {}, ({ wallet }) => wallet.tap({ usd: '1.0' })],
    ['the genesis of a proxy', 0.25, true, {}, ({ names }) => names.resolve('alice')],
    ['a proof', 1, true, lookup, ({ names }) => names.resolve('alice')],
    [
      'an offset',
      4,
      true,
      {},
      ({ updates }) => collect(updates({ parties: [PARTY], follow: false })),
    ],
  ] as [string, number, boolean, Partial<ValidatorOptions>, (v: Validator) => Promise<unknown>][])(
    'is read up to the limit of %s, once, with an error that says so',
    async (_, mebibytesMax, definite, options, call) => {
      const { seen, fetch } = endless()
      await expect(call(connect({ ...options, fetch }))).rejects.toMatchObject({
        code: 'INVALID_RESPONSE',
        definite,
        retryable: false,
        message: expect.stringMatching(/ was answered with a body of more than \d+ bytes/),
      })
      expect(seen).toMatchObject({ requests: 1, isClosed: true })
      expect(seen.bytes).toBeLessThanOrEqual(mebibytesMax * 2 ** 20 + 2 * PIECE.byteLength)
    },
  )

  it('is read up to the same limit if it is an error', async () => {
    const { seen, fetch } = endless(502)
    await expect(connect({ fetch }).wallet.balance()).rejects.toMatchObject({
      code: 'INVALID_RESPONSE',
      retryable: false,
    })
    expect(seen.requests).toBe(1)
  })

  it('counts decompressed', async () => {
    const body = gzipSync(Buffer.alloc(5 * 2 ** 20, ' '))
    nock(URL).get('/v0/wallet/balance').reply(200, body, { 'content-encoding': 'gzip' })
    await expect(connect().wallet.balance()).rejects.toMatchObject({
      code: 'INVALID_RESPONSE',
      message: expect.stringContaining('more than 4194304 bytes'),
    })
  })

  it('of a `fetch` without streams is refused after it was read, or by its declared length', async () => {
    const without = (bytes: number, headers = new Headers()) => {
      const arrayBuffer = async () => new ArrayBuffer(bytes)
      return async () => ({ status: 200, headers, arrayBuffer }) as Response
    }
    for (const fetch of [
      without(5 * 2 ** 20),
      without(0, new Headers({ 'content-length': '5000000' })),
    ])
      await expect(connect({ fetch }).wallet.balance()).rejects.toMatchObject({
        code: 'INVALID_RESPONSE',
        message: expect.stringContaining('a body of'),
      })
    const text = new TextEncoder().encode(JSON.stringify(BALANCE)).buffer
    const whole = { status: 200, headers: new Headers(), arrayBuffer: async () => text }
    const { wallet } = connect({ fetch: async () => whole as unknown as Response })
    expect(await wallet.balance()).toMatchObject({ round: 1 })
  })
})

describe('a token function', () => {
  it('is called once, and again when the validator refuses its token, also for a write', async () => {
    const refused: (string | null)[] = []
    const { wallet } = connect({
      token: async (context) => {
        refused.push(context.refused)
        return `t-${refused.length}`
      },
    })
    nock(URL)
      .get('/v0/wallet/balance')
      .matchHeader('authorization', 'Bearer t-1')
      .reply(200, BALANCE)
    await wallet.balance()
    nock(URL)
      .post('/v0/wallet/tap')
      .matchHeader('authorization', 'Bearer t-1')
      .reply(401, refusal('UNAUTHENTICATED'))
    nock(URL)
      .post('/v0/wallet/tap')
      .matchHeader('authorization', 'Bearer t-2')
      .reply(200, { contract_id: `00${'b'.repeat(64)}` })
    await wallet.tap({ usd: '1.0' })
    expect(refused).toEqual([null, 't-1'])
  })

  it('is called once by concurrent calls', async () => {
    let count = 0
    const { wallet } = connect({ token: async () => `t-${++count}` })
    nock(URL)
      .get('/v0/wallet/balance')
      .times(3)
      .matchHeader('authorization', 'Bearer t-1')
      .reply(200, BALANCE)
    await Promise.all([wallet.balance(), wallet.balance(), wallet.balance()])
    expect(count).toBe(1)
  })

  it('is called again for the others if the first call aborts', async () => {
    const signals: AbortSignal[] = []
    let noteAsked = () => {}
    const asked = new Promise<void>((resolve) => {
      noteAsked = resolve
    })
    const { wallet } = connect({
      token: ({ signal }) => {
        signals.push(signal)
        noteAsked()
        if (signals.length > 1) return 't-2'
        return new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
        )
      },
    })
    const abort = new AbortController()
    const first = wallet.balance({ signal: abort.signal })
    const others = [wallet.balance(), wallet.balance()]
    nock(URL)
      .get('/v0/wallet/balance')
      .times(2)
      .matchHeader('authorization', 'Bearer t-2')
      .reply(200, BALANCE)
    await asked
    abort.abort(new Error('left the page'))
    await expect(first).rejects.toThrow(/^left the page$/)
    expect(await Promise.all(others)).toMatchObject([{ round: 1 }, { round: 1 }])
    expect(signals).toHaveLength(2)
  })

  it('that fails is an error of the SDK, with the cause', async () => {
    const cause = new Error('no session')
    const fails = () => {
      throw cause
    }
    for (const token of [fails, async () => fails()])
      await expect(connect({ token }).wallet.balance()).rejects.toMatchObject({
        code: 'UNAUTHENTICATED',
        definite: true,
        retryable: false,
        cause,
      })
  })

  it('whose second token is refused fails; a string is not renewed', async () => {
    nock(URL).get('/v0/wallet/balance').times(2).reply(401, refusal('UNAUTHENTICATED'))
    let count = 0
    const { wallet } = connect({ token: () => `t-${++count}` })
    await expect(wallet.balance()).rejects.toMatchObject({ code: 'UNAUTHENTICATED', status: 401 })
    expect(count).toBe(2)
    nock(URL).get('/v0/wallet/balance').reply(401, refusal('UNAUTHENTICATED'))
    await expect(connect().wallet.balance()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
  })

  it.each([
    ['with a line end inside', 'a\nb'],
    ['beyond ASCII', 'tökén'],
    ['that is no text', undefined as unknown as string],
  ])('that returns a token %s fails, and nothing is sent', async (_, token) => {
    await expect(connect({ token: () => token }).wallet.balance()).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      definite: true,
      message: expect.stringContaining('`token`'),
    })
    expect(pauses()).toEqual([])
  })

  it('may return a token with a line end', async () => {
    nock(URL)
      .get('/v0/wallet/balance')
      .matchHeader('authorization', 'Bearer t-9')
      .reply(200, BALANCE)
    expect(await connect({ token: () => 't-9\n' }).wallet.balance()).toMatchObject({ round: 1 })
  })
})

it('an error of a server has names and codes of the SDK', async () => {
  const body = (code: string) => ({
    ...refusal('CHOICE_REFUSED'),
    code,
    details: { window_opens_at: '2026', rule: 'x' },
  })
  const about = { details: { windowOpensAt: '2026', rule: 'x' }, definite: true }
  nock(URL).get('/v0/wallet/balance').reply(409, body('CHOICE_REFUSED'))
  await expect(connect().wallet.balance()).rejects.toMatchObject({
    ...about,
    code: 'CHOICE_REFUSED',
  })
  nock(URL).get('/v0/wallet/balance').reply(409, body('OF_A_LATER_VERSION'))
  const error = await connect()
    .wallet.balance()
    .catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({
    code: 'UNKNOWN_ERROR',
    details: { ...about.details, code: 'OF_A_LATER_VERSION' },
  })
  expect(isErrorCode(memberOf(error, 'code'))).toBe(true)
  expect(isErrorCode('OF_A_LATER_VERSION')).toBe(false)
})
