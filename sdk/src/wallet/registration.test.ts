/** What a registration says about the coin when answers are lost: against a validator that is told what to do. */
import { describe, expect, it } from 'vitest'
import { QuorumscanError } from '../errors.ts'
import type { Http } from '../http/http.ts'
import type { HttpRequest } from '../http/request.ts'
import type { LookupOutcome } from '../names/lookups.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { register } from './registration.ts'
import type { RegisterProgress } from './registration-steps.ts'
import { createWallet } from './wallet.ts'

const NAME = 'a.unverified.ns'
const PARTY = `alice::1220${'a'.repeat(64)}`
const REQUEST = `00${'1'.repeat(64)}`
const CALL_MS = 10_000
const PAYMENT = `00${'2'.repeat(64)}`

const outcomeOf = (party: string | null) =>
  ({
    kind: party === null ? 'verified-absent' : 'verified',
    entry: party === null ? null : { name: NAME, party, url: '', description: '' },
  }) as LookupOutcome // All that a registration reads of it.
const contract = (contractId: string) => ({
  template_id: 'p:M:E',
  contract_id: contractId,
  payload: { subscriptionData: { sender: PARTY, description: `ANS entry: "${NAME}"` } },
  created_event_blob: '',
  created_at: '2026-11-21T10:00:00.000000Z',
})
const lostAnswer = () =>
  new QuorumscanError('lost', { code: 'NETWORK_ERROR', definite: false, retryable: true })
const gone = () =>
  new QuorumscanError('gone', { code: 'CONTRACT_NOT_FOUND', definite: true, retryable: false })

/** A ledger of one name; `accept` is what the test makes of a payment, `pass` of the time that passes. */
function world(accept: (ledger: Ledger) => void, pass: (ledger: Ledger) => void = () => {}) {
  let nowMs = 0
  const timeouts: (number | undefined)[] = []
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => nowMs,
    delay: async (ms) => {
      nowMs += ms
      pass(ledger)
    },
  }
  const ledger: Ledger = { requests: [], payments: [], isOwned: false, accepts: 0 }
  const answer = ({ method, path }: HttpRequest): unknown => {
    if (path === '/v0/wallet/user-status')
      return {
        party_id: PARTY,
        user_onboarded: true,
        user_wallet_installed: true,
        has_featured_app_right: false,
      }
    if (path === '/v0/wallet/subscription-requests')
      return { subscription_requests: ledger.requests.map(contract) }
    if (path === '/v0/wallet/subscription-initial-payments')
      return { initial_payments: ledger.payments.map(contract) }
    if (path === '/v0/entry/all') return { entries: ledger.isOwned ? [ownEntry] : [] }
    if (path === '/v0/entry/create') {
      ledger.requests = [REQUEST]
      return {
        entryContextCid: REQUEST,
        subscriptionRequestCid: REQUEST,
        name: NAME,
        url: '',
        description: '',
      }
    }
    if (path.endsWith('/accept')) {
      ledger.accepts++
      if (!ledger.requests.includes(REQUEST)) throw gone()
      accept(ledger)
      return { initial_payment_contract_id: PAYMENT }
    }
    throw new Error(`${method} ${path}`)
  }
  const http: Http = {
    send: async () => ({ status: 200, text: '', header: () => null }),
    token: async () => null,
    async call(request, isValid) {
      timeouts.push(request.timeoutMs)
      if (ledger.isAway) throw lostAnswer()
      const body = answer(request)
      if (!isValid(body)) throw new Error(`not valid: ${request.path}`)
      return body
    },
  }
  const accepted: string[] = []
  const names = {
    lookup: async () => outcomeOf(ledger.isOwned && !ledger.isHidden ? PARTY : null),
    acceptChange: async (name: string, party: string) => {
      accepted.push(`${name} ${party}`)
    },
  }
  const run = (onProgress: (event: RegisterProgress) => void = () => {}) =>
    register(
      { http, wallet: createWallet(http), names, clock, timeoutMs: CALL_MS },
      { name: NAME },
      { onProgress },
    )
  return { ledger, run, timeouts, accepted }
}

type Ledger = {
  requests: string[]
  payments: string[]
  isOwned: boolean
  accepts: number
  /** The validator cannot be reached. */
  isAway?: boolean
  /** The scan nodes do not know the name yet. */
  isHidden?: boolean
}

const ownEntry = {
  contractId: REQUEST,
  name: NAME,
  amount: '1.0000000000',
  unit: 'USDUnit',
  expiresAt: '1',
  paymentInterval: '1',
  paymentDuration: '1',
}

describe('a payment whose answer is lost', () => {
  it('is found, if it happened, and not made again', async () => {
    const { ledger, run } = world((state) => {
      state.requests = []
      state.isOwned = true // Confirmed before anybody could look.
      throw lostAnswer()
    })
    expect(await run()).toMatchObject({ party: PARTY })
    expect(ledger.accepts).toBe(1)
  })

  it('is made, if it did not happen: the request is still there, and can be used up only once', async () => {
    let count = 0
    const { ledger, run } = world((state) => {
      if (++count === 1) throw lostAnswer()
      state.requests = []
      state.isOwned = true
    })
    expect(await run()).toMatchObject({ party: PARTY })
    expect(ledger.accepts).toBe(2)
  })

  it('may have happened, if nothing can be found out', async () => {
    const { run } = world(() => {
      throw lostAnswer()
    })
    await expect(run()).rejects.toMatchObject({
      code: 'PAYMENT_UNKNOWN',
      payment: 'unknown',
      definite: false,
      retryable: true,
    })
  })

  it('came back, if the request is used up and no coin is locked', async () => {
    const { run } = world((state) => {
      state.requests = []
      throw lostAnswer()
    })
    await expect(run()).rejects.toMatchObject({ code: 'PAYMENT_REFUNDED', payment: 'refunded' })
  })
})

describe('a payment that was made', () => {
  it('and never decided is locked', async () => {
    const { run } = world((state) => {
      state.requests = []
      state.payments = [PAYMENT]
    })
    await expect(run()).rejects.toMatchObject({ code: 'PAYMENT_PENDING', payment: 'locked' })
  })

  it('and ended without the name came back', async () => {
    const { run } = world((state) => {
      state.requests = []
    })
    await expect(run()).rejects.toMatchObject({ code: 'PAYMENT_REFUNDED', payment: 'refunded' })
  })

  it('that was refused was not', async () => {
    const { ledger, run } = world(() => {
      throw new QuorumscanError('too little', {
        code: 'INSUFFICIENT_FUNDS',
        definite: true,
        retryable: false,
      })
    })
    await expect(run()).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS', payment: 'not-paid' })
    expect(ledger.accepts).toBe(1)
  })
})

it('no call of a registration goes on beyond the end of all', async () => {
  const { run, timeouts } = world((state) => {
    state.requests = []
    state.payments = [PAYMENT]
  })
  await expect(run()).rejects.toMatchObject({ code: 'PAYMENT_PENDING' })
  expect(Math.max(...timeouts.map((ms) => ms ?? Number.POSITIVE_INFINITY))).toBe(CALL_MS)
  expect(timeouts.at(-1)).toBe(1)
})

describe('after a crash', () => {
  const unpaid = () => {
    throw new Error('paid a second time')
  }

  it('between payment and name it waits for what was paid, and pays nothing', async () => {
    const { ledger, run } = world(unpaid, (state) => {
      state.payments = []
      state.isOwned = true
    })
    ledger.payments = [PAYMENT]
    const steps: [string, boolean][] = []
    await run(({ step, isResumed }) => steps.push([step, isResumed]))
    expect(steps).toEqual([
      ['paid', true],
      ['active', false],
    ])
    expect(ledger.accepts).toBe(0)
  })

  it('nothing is known of the coin where nobody can look', async () => {
    const { ledger, run } = world(unpaid)
    ledger.payments = [PAYMENT]
    ledger.isAway = true
    await expect(run()).rejects.toMatchObject({ code: 'NETWORK_ERROR', payment: 'unknown' })
  })

  it('a name that is there was paid, also where the nodes do not know it yet', async () => {
    const { ledger, run } = world(unpaid)
    ledger.isOwned = true
    ledger.isHidden = true
    await expect(run()).rejects.toMatchObject({ code: 'CONSENSUS_LAGGING', payment: 'paid' })
  })

  it('at the very end it only says so', async () => {
    const { ledger, run } = world(unpaid)
    ledger.isOwned = true
    const steps: [string, boolean][] = []
    expect(await run(({ step, isResumed }) => steps.push([step, isResumed]))).toMatchObject({
      wasOwned: true,
    })
    expect(steps).toEqual([['active', true]])
  })
})
