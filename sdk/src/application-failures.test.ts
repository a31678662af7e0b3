/** What the application passes may be wrong: it is never reported as a failure of the network, nor believed as an answer. */
import { describe, expect, it } from 'vitest'
import { failure, type QuorumscanError, transient } from './errors.ts'
import { createResolver } from './naming/index.ts'
import { systemClock } from './platform/clock.ts'
import { parseParty } from './platform/parse-party.ts'
import { cancelledTransfer } from './react/write-error.ts'
import { createScan } from './scan.ts'
import { createValidator, type Validator } from './validator.ts'

const URL = 'http://127.0.0.1:9'
const GENESIS = 'c'.repeat(64)
const broken = (): never => {
  throw new TypeError('planted')
}
const noResponse = (async () => undefined) as unknown as typeof fetch
const FAILED = {
  code: 'APPLICATION_FAILED',
  cause: expect.objectContaining({ message: expect.any(String) }),
}

describe('a client', () => {
  it('of a validator names a `traceparent` that throws, before anything is sent', async () => {
    let sent = 0
    const counting = async () => {
      sent++
      return new Response('{}')
    }
    const { wallet } = createValidator({ url: URL, traceparent: broken, fetch: counting })
    for (const call of [() => wallet.balance(), () => wallet.tap({ usd: '1' })])
      await expect(call()).rejects.toMatchObject({ ...FAILED, definite: true })
    expect(sent).toBe(0)
  })

  it('of nodes names a `traceparent` that throws', async () => {
    const scan = createScan({ seeds: [URL], genesis: GENESIS, traceparent: broken })
    await expect(scan.names.resolve('alice')).rejects.toMatchObject(FAILED)
    await scan.close()
  })

  it('names a `fetch` that returns no response; a write may have been sent', async () => {
    const { wallet } = createValidator({ url: URL, fetch: noResponse })
    await expect(wallet.balance()).rejects.toMatchObject({ ...FAILED, definite: true })
    await expect(wallet.tap({ usd: '1' })).rejects.toMatchObject({ ...FAILED, definite: false })
  })

  it('of a resolver of the application names its failure', async () => {
    const own = { id: 'dns', basis: 'votes', accepts: () => true, resolve: broken, reverse: broken }
    const resolver = createResolver({ network: 'localnet', resolvers: [own as never] })
    const { kind, failures } = await resolver.resolve('alice')
    expect([kind, failures[0]?.error.code]).toEqual(['failed', 'APPLICATION_FAILED'])
    expect(failures[0]?.error.message).toBe('The resolver dns failed: planted.')
  })
})

const PARTY = parseParty(`alice::1220${'a'.repeat(64)}`)
const END = { '/v2/state/ledger-end': { offset: 5 } }
const STATUS = {
  party_id: PARTY,
  user_onboarded: true,
  user_wallet_installed: true,
  has_featured_app_right: false,
}
const READS: Readonly<Record<string, unknown>> = {
  ...END,
  '/v0/wallet/user-status': STATUS,
  '/v2/updates': [],
}
/** Pauses end at once, and a call that never ends is late after some of them. */
const hasty = () => {
  let waitedMs = 0
  return {
    ...systemClock,
    monotonicMs: () => waitedMs,
    delay(ms: number, signal?: AbortSignal) {
      if (ms >= 5000)
        return new Promise<void>((_, reject) =>
          signal?.addEventListener('abort', () => reject(signal.reason), { once: true }),
        )
      waitedMs += ms
      return Promise.resolve()
    },
  }
}
/** A `fetch` that sends, and then lets the application see the answer. Other requests are answered. */
function sending(path: string, spoil: () => Response | Promise<Response>) {
  const sent = { count: 0 }
  const fetch: typeof globalThis.fetch = async (input) => {
    const { pathname } = new globalThis.URL(String(input))
    if (pathname === path) {
      sent.count++
      return spoil()
    }
    return Response.json(READS[pathname] ?? {})
  }
  return { sent, fetch }
}

describe('an error of the SDK that the `fetch` of the application throws', () => {
  const update = { update_id: 'u', offset: 6, record_time: '2026-01-01T00:00:00.000000Z' }
  const errors: readonly (readonly [string, QuorumscanError])[] = [
    ['a definite one', failure('INVALID_ARGUMENT', 'planted')],
    ['a transient one', transient('RATE_LIMITED', 'planted')],
    ['a consumed contract', failure('CONTRACT_CONSUMED', 'planted', { status: 409 })],
    ['another payment', failure('PAYMENT_DIFFERS', 'planted', { status: 409 })],
    [
      'a result',
      failure('DUPLICATE_COMMAND', 'planted', {
        status: 409,
        details: { result: update, completionOffset: 6 },
      }),
    ],
    ['one of a payment', failure('NAME_TAKEN', 'planted', { payment: 'not-paid' })],
  ]
  const places: readonly (readonly [string, (error: QuorumscanError) => Response])[] = [
    [
      'the call',
      (error) => {
        throw error
      },
    ],
    [
      'the body',
      (error) => new Response(new ReadableStream({ pull: (body) => body.error(error) })),
    ],
  ]
  const cases = errors.flatMap(([kind, error]) =>
    places.map(([place, spoil]) => [kind, place, () => spoil(error)] as const),
  )

  it.each(cases)('is no answer of a write: %s, from %s', async (_kind, _place, spoil) => {
    const tap = sending('/v0/wallet/tap', spoil)
    const { wallet } = createValidator({ url: URL, fetch: tap.fetch, clock: hasty() })
    const refused = expect.objectContaining({ code: 'APPLICATION_FAILED', definite: false })
    await expect(wallet.tap({ usd: '1' })).rejects.toEqual(refused)
    expect(tap.sent.count).toBe(1)

    const transfer = sending('/v0/wallet/token-standard/transfers', spoil)
    const { payments } = createValidator({ url: URL, fetch: transfer.fetch, clock: hasty() })
    const made = await payments.transfer({ receiver: PARTY, coin: '1' })
    expect([made.kind, transfer.sent.count]).toEqual(['unknown', 1])
    expect(made).toMatchObject({ error: { definite: false, payment: 'unknown' } })
    expect(await payments.unfinished()).toHaveLength(1)

    const submit = sending('/v2/commands/submit-and-wait', spoil)
    const { commands } = createValidator({ url: URL, fetch: submit.fetch, clock: hasty() })
    const submitting = commands.submit({ actAs: [PARTY], commands: [] }, { timeoutMs: 1000 })
    expect(await submitting).toMatchObject({ kind: 'unknown', error: { definite: false } })
  })

  it('fails a read, which is not repeated', async () => {
    const error = transient('RATE_LIMITED', 'planted')
    const { sent, fetch } = sending('/v0/wallet/balance', () => {
      throw error
    })
    const { wallet } = createValidator({ url: URL, fetch, clock: hasty() })
    const refused = { code: 'APPLICATION_FAILED', definite: true, cause: error }
    await expect(wallet.balance()).rejects.toMatchObject(refused)
    expect(sent.count).toBe(1)
  })

  it('may come from headers: then there are none', async () => {
    const headers = {
      get() {
        throw failure('INVALID_ARGUMENT', 'planted')
      },
    }
    const answer = { status: 503, headers, text: async () => '', arrayBuffer: async () => null }
    const tap = sending('/v0/wallet/tap', () => answer as never)
    const { wallet } = createValidator({ url: URL, fetch: tap.fetch, clock: hasty() })
    await expect(wallet.tap({ usd: '1' })).rejects.toMatchObject({ definite: false })
    expect(tap.sent.count).toBe(1)
  })
})

it('an error of the SDK that a `token` function throws is no answer of the validator', async () => {
  const error = failure('PAYMENT_DIFFERS', 'planted', { status: 409 })
  const token = () => Promise.reject(error)
  const { wallet } = createValidator({ url: URL, token, fetch: noResponse, clock: hasty() })
  const refused = { code: 'UNAUTHENTICATED', definite: true, cause: error }
  await expect(wallet.tap({ usd: '1' })).rejects.toMatchObject(refused)
})

it('a `traceparent` that returns a promise fails before anything is sent, and rejects unheard', async () => {
  const traceparent = () => Promise.reject(new Error('planted')) as never
  const { sent, fetch } = sending('/v0/wallet/tap', () => Response.json({}))
  const { wallet } = createValidator({ url: URL, fetch, traceparent })
  await expect(wallet.tap({ usd: '1' })).rejects.toMatchObject({ ...FAILED, definite: true })
  expect(sent.count).toBe(0)
})

describe('an error of the SDK as the reason of a signal', () => {
  const reasons = [
    failure('INSUFFICIENT_FUNDS', 'planted'),
    failure('CONSENSUS_LAGGING', 'planted'),
    failure('NAME_TAKEN', 'planted', { payment: 'paid' }),
  ]
  const ID = `00${'b'.repeat(64)}` as never

  it.each(reasons)('$code says nothing of a write that was sent', async (reason) => {
    const writes: readonly (readonly [string, (of: Validator, signal: AbortSignal) => unknown])[] =
      [
        ['/v0/wallet/tap', ({ wallet }, signal) => wallet.tap({ usd: '1', signal })],
        [
          `/v0/wallet/subscription-requests/${ID}/accept`,
          ({ wallet }, signal) => wallet.acceptSubscriptionRequest(ID, { signal }),
        ],
        [
          `/v0/wallet/subscriptions/${ID}/pay`,
          ({ wallet }, signal) => wallet.paySubscription(ID, { signal }),
        ],
        [
          '/v2/commands/submit-and-wait',
          ({ commands }, signal) => commands.submit({ actAs: [PARTY], commands: [] }, { signal }),
        ],
      ]
    for (const [path, write] of writes) {
      const controller = new AbortController()
      const { fetch } = sending(path, () => {
        controller.abort(reason)
        return new Promise(() => {})
      })
      const validator = createValidator({ url: URL, fetch, clock: hasty() })
      const error = { code: 'TIMEOUT', definite: false, payment: null, cause: reason }
      await expect(write(validator, controller.signal), path).rejects.toMatchObject(error)
      await expect(write(validator, controller.signal), path).rejects.toBe(reason)
    }
  })
})

it('a cancelled transfer says that nothing was paid only if its id is new', () => {
  expect(cancelledTransfer(undefined)).toMatchObject({ code: 'CLOSED', definite: true })
  expect(cancelledTransfer('own')).toMatchObject({ definite: false, payment: 'unknown' })
})
