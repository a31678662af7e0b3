/** The payment state of a registration when answers are lost, against a scripted validator. */
import { describe, expect, it } from 'vitest'
import { failure, QuorumscanError } from '../errors.ts'
import type { Http } from '../http/http.ts'
import type { HttpRequest } from '../http/http-request.ts'
import type { LookupOutcome } from '../names/lookup-outcome.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { type Journal, type RegisterInput, register } from './registration.ts'
import type { RegisterProgress } from './registration-steps.ts'
import { createWallet } from './wallet.ts'

const NAME = 'a.unverified.ns'
const PARTY = `alice::1220${'a'.repeat(64)}`
const REQUEST = `00${'1'.repeat(64)}`
const CALL_MS = 10_000
const PAYMENT = `00${'2'.repeat(64)}`

const outcomeOf = (details: Details | null) =>
  ({
    kind: 'proven',
    value: details === null ? null : { name: NAME, party: PARTY, ...details },
  }) as unknown as LookupOutcome // All that a registration reads of it.
const OLDER = `00${'3'.repeat(64)}`
const contract = (contractId: string) => ({
  template_id: 'p:M:E',
  contract_id: contractId,
  payload: {
    subscriptionData: { sender: PARTY, description: `ANS entry: "${NAME}"` },
    reference: REQUEST,
  },
  created_event_blob: '',
  created_at: '2026-11-21T10:00:00.000000Z',
})
const lostAnswer = () =>
  new QuorumscanError('lost', { code: 'NETWORK_ERROR', definite: false, retryable: true })
const gone = () =>
  new QuorumscanError('gone', { code: 'CONTRACT_NOT_FOUND', definite: true, retryable: false })

/** Nothing is stored. */
const journal: Journal = { open: async () => [], begin: async () => {}, beforeSend: async () => {} }

/** A ledger of one name; the test scripts payments with `accept`, and time with `pass`. */
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
  const ledger: Ledger = {
    requests: [],
    payments: [],
    isOwned: false,
    accepts: 0,
    rejected: [],
    asked: { url: '', description: '' },
    older: { url: '', description: '' },
    autoRenew: null,
  }
  const answer = ({ method, path, body }: HttpRequest): unknown => {
    if (path === '/v2/events/events-by-contract-id') {
      if (ledger.isUntold) throw gone()
      const { contractId } = body as { readonly contractId: string }
      const offset = contractId === OLDER ? 1 : 2
      return {
        created: { createdEvent: createdEvent(offset, {}), synchronizerId: 's' },
        archived: null,
      }
    }
    if (path === '/v2/updates') {
      const { endInclusive: offset } = body as { readonly endInclusive: number }
      const [reference, details] = offset === 1 ? [OLDER, ledger.older] : [REQUEST, ledger.asked]
      const CreatedEvent = createdEvent(offset, { reference, ...details })
      return [{ update: { Transaction: { value: transaction(offset, [{ CreatedEvent }]) } } }]
    }
    if (path === '/v0/wallet/subscriptions')
      return { subscriptions: subscriptionsOf(ledger), next_page_token: null }
    if (path.endsWith('/auto-renew')) {
      ledger.autoRenew = (body as { readonly enabled: boolean }).enabled
      return { auto_renew: ledger.autoRenew }
    }
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
    if (path === '/v0/entry/all')
      return { entries: ledger.isOwned ? [ownEntry] : [], next_page_token: null }
    if (path === '/v0/entry/create') {
      if (ledger.takenUntil !== undefined)
        throw new QuorumscanError('taken', {
          code: 'NAME_TAKEN',
          status: 409,
          definite: true,
          retryable: false,
          details: { name: NAME, expiresAt: ledger.takenUntil },
        })
      ledger.requests = [REQUEST]
      ledger.asked = body as Details
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
    timeLeft:
      (timeoutMs = CALL_MS) =>
      () =>
        timeoutMs,
    offset: () => 7,
    async send({ path }) {
      const [, requestCid = ''] = /([0-9a-f]+)\/reject$/.exec(path) ?? []
      if (ledger.isPaidMeanwhile) {
        ledger.isPaidMeanwhile = false
        ledger.requests = []
        ledger.payments = [PAYMENT]
        throw gone()
      }
      ledger.rejected.push(requestCid)
      ledger.requests = ledger.requests.filter((each) => each !== requestCid)
      return { status: 200, text: '', header: () => null }
    },
    token: async () => null,
    async call(request, isValid) {
      timeouts.push(request.timeoutMs)
      if (ledger.isAway) throw lostAnswer()
      if (ledger.isForbidden) throw failure('UNAUTHENTICATED', 'no token')
      const body = answer(request)
      if (!isValid(body)) throw new Error(`not valid: ${request.path}`)
      return body
    },
  }
  const accepted: string[] = []
  const names = {
    lookup: async () => outcomeOf(ledger.isOwned && !ledger.isHidden ? ledger.asked : null),
    acceptChange: async (name: string, party: string) => {
      accepted.push(`${name} ${party}`)
    },
  }
  const run = (
    onProgress: (event: RegisterProgress) => void = () => {},
    input: Partial<RegisterInput> = {},
  ) =>
    register(
      { http, wallet: createWallet(http), names, clock, timeoutMs: CALL_MS },
      { name: NAME, ...input },
      { onProgress, journal },
    )
  return { ledger, run, timeouts, accepted }
}

type Details = { readonly url: string; readonly description: string }

type Ledger = {
  requests: string[]
  rejected: string[]
  /** The entry of the newest request, and of an older one. */
  asked: Details
  older: Details
  /** The auto-renewal of the subscription; null: there is no subscription. */
  autoRenew: boolean | null
  /** The validator lists the auto-renewal as off, because its administrator has paused the user. */
  isPaused?: boolean
  /** The token is refused. */
  isForbidden?: boolean
  /** The ledger interface cannot be read. */
  isUntold?: boolean
  /** Another device pays while this one rejects. */
  isPaidMeanwhile?: boolean
  payments: string[]
  isOwned: boolean
  accepts: number
  /** When another party's entry of the name ends. */
  takenUntil?: string
  /** The validator cannot be reached. */
  isAway?: boolean
  /** The scan nodes do not know the name yet. */
  isHidden?: boolean
}

const TIME = '2026-11-21T10:00:00.000000Z'
const createdEvent = (offset: number, createArgument: object) => ({
  offset,
  nodeId: 1,
  contractId: REQUEST,
  templateId: 'p:Ans:AnsEntryContext',
  contractKey: null,
  contractKeyHash: '',
  createArgument,
  createdEventBlob: '',
  interfaceViews: [],
  witnessParties: [PARTY],
  signatories: [PARTY],
  observers: [],
  createdAt: TIME,
  packageName: 'p',
  representativePackageId: 'p',
  acsDelta: true,
})
const transaction = (offset: number, events: readonly object[]) => ({
  updateId: 'u',
  commandId: 'c',
  workflowId: '',
  effectiveAt: TIME,
  recordTime: TIME,
  events,
  offset,
  synchronizerId: 's',
  traceContext: null,
  paidTrafficCost: 0,
  externalTransactionHash: null,
})
const subscriptionsOf = ({ autoRenew, isPaused = false }: Ledger) =>
  autoRenew === null
    ? []
    : [
        {
          subscription: contract(REQUEST),
          auto_renew: autoRenew && !isPaused,
          state: { idle: contract(REQUEST) },
        },
      ]

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
      state.isOwned = true // Confirmed before the next look.
      throw lostAnswer()
    })
    expect(await run()).toMatchObject({ party: PARTY })
    expect(ledger.accepts).toBe(1)
  })

  it('is made if it did not happen: the request exists, and can be consumed only once', async () => {
    let count = 0
    const { ledger, run } = world((state) => {
      if (++count === 1) throw lostAnswer()
      state.requests = []
      state.isOwned = true
    })
    expect(await run()).toMatchObject({ party: PARTY })
    expect(ledger.accepts).toBe(2)
  })

  it('may have happened if the ledger cannot be read', async () => {
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

  it('is refunded if the request is consumed and no coin is locked', async () => {
    const { run } = world((state) => {
      state.requests = []
      throw lostAnswer()
    })
    await expect(run()).rejects.toMatchObject({ code: 'PAYMENT_REFUNDED', payment: 'refunded' })
  })
})

it.each([
  ['has expired, until the ledger frees it', '2020-01-01T00:00:00.000000Z', true],
  ['has not expired', '2099-01-01T00:00:00.000000Z', false],
])('a name whose entry %s is taken', async (_, takenUntil, retryable) => {
  const { ledger, run } = world(() => {})
  ledger.takenUntil = takenUntil
  await expect(run()).rejects.toMatchObject({
    code: 'NAME_TAKEN',
    status: 409,
    definite: true,
    retryable,
    details: { name: NAME, expiresAt: takenUntil },
    payment: 'not-paid',
  })
})

describe('metadata', () => {
  const metadata = { 'splice.lfdecentralizedtrust.org/registry-urls': 'https://r.example' }
  const shown = world((state) => {
    state.requests = []
    state.isOwned = true
  })

  it('is requested as the description, and compared as such when the call is repeated', async () => {
    const description = JSON.stringify({ meta: metadata })
    expect(await shown.run(undefined, { metadata })).toMatchObject({ entry: { description } })
    expect(shown.ledger.asked).toMatchObject({ description })
    expect(await shown.run(undefined, { metadata })).toMatchObject({ wasOwned: true })
    const other = { metadata: { a: 'b' } }
    await expect(shown.run(undefined, other)).rejects.toMatchObject({
      code: 'REGISTRATION_DIFFERS',
    })
  })

  it.each<[Partial<RegisterInput>, object]>([
    [
      { metadata: { a: 'x'.repeat(125) } },
      { code: 'INVALID_DESCRIPTION', details: { excess: 2 }, payment: 'not-paid' },
    ],
    [
      { metadata, description: 'text' },
      { code: 'INVALID_ARGUMENT', payment: 'not-paid' },
    ],
  ])('that cannot be written is refused before anything is sent', async (input, error) => {
    const { run, timeouts } = world(() => {})
    await expect(run(undefined, input)).rejects.toMatchObject(error)
    expect(timeouts).toEqual([])
  })
})

describe('a payment that was made', () => {
  it('and is neither collected nor returned is locked', async () => {
    const { run } = world((state) => {
      state.requests = []
      state.payments = [PAYMENT]
    })
    await expect(run()).rejects.toMatchObject({ code: 'PAYMENT_PENDING', payment: 'locked' })
  })

  it('and ended without the name is refunded', async () => {
    const { run } = world((state) => {
      state.requests = []
    })
    await expect(run()).rejects.toMatchObject({ code: 'PAYMENT_REFUNDED', payment: 'refunded' })
  })

  it('that was refused is not paid', async () => {
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

it('no call of a registration has a later deadline than the registration', async () => {
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

  it('between payment and name it waits for the payment, and pays nothing', async () => {
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

  it('the payment is unknown if the token is refused: an earlier call may have paid', async () => {
    const { ledger, run } = world(unpaid)
    ledger.isForbidden = true
    await expect(run()).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
      payment: 'unknown',
      definite: false,
    })
  })

  it('the payment is unknown if the ledger cannot be read', async () => {
    const { ledger, run } = world(unpaid)
    ledger.payments = [PAYMENT]
    ledger.isAway = true
    await expect(run()).rejects.toMatchObject({ code: 'NETWORK_ERROR', payment: 'unknown' })
  })

  it('an existing name is paid, even if the nodes do not show it yet', async () => {
    const { ledger, run } = world(unpaid)
    ledger.isOwned = true
    ledger.isHidden = true
    await expect(run()).rejects.toMatchObject({ code: 'CONSENSUS_LAGGING', payment: 'paid' })
  })

  it('at the end it only returns the name', async () => {
    const { ledger, run } = world(unpaid)
    ledger.isOwned = true
    const steps: [string, boolean][] = []
    expect(await run(({ step, isResumed }) => steps.push([step, isResumed]))).toMatchObject({
      wasOwned: true,
    })
    expect(steps).toEqual([['active', true]])
  })
})

describe('an existing request', () => {
  const confirm = (state: Ledger) => {
    state.requests = []
    state.isOwned = true
  }
  const wished = { url: 'https://new.example', description: 'new' }

  it('with the same entry is paid', async () => {
    const { ledger, run } = world(confirm)
    Object.assign(ledger, { requests: [REQUEST], asked: wished })
    const steps: [string, boolean][] = []
    await run(({ step, isResumed }) => steps.push([step, isResumed]), wished)
    expect(steps[0]).toEqual(['requested', true])
    expect(ledger.rejected).toEqual([])
  })

  it.each([
    ['another url', { older: { url: 'https://old.example', description: 'new' } }],
    ['another description', { older: { url: wished.url, description: '' } }],
    ['an unknown entry', { isUntold: true }],
  ])('with %s is rejected, and made again', async (_, state) => {
    const { ledger, run } = world(confirm)
    Object.assign(ledger, { requests: [OLDER], ...state })
    const done = await run(() => {}, wished)
    expect(ledger.rejected).toEqual([OLDER])
    expect(ledger.asked).toMatchObject(wished)
    expect(done).toMatchObject({ entry: wished, wasOwned: false })
    expect(ledger.accepts).toBe(1)
  })

  it('is rejected if another one has the same entry, which is paid', async () => {
    const { ledger, run } = world(confirm)
    const older = { url: 'https://old.example', description: '' }
    Object.assign(ledger, { requests: [OLDER, REQUEST], older, asked: wished })
    await run(() => {}, wished)
    expect(ledger.rejected).toEqual([OLDER])
  })

  it('that another device has paid meanwhile is not paid again', async () => {
    const { ledger, run } = world(confirm)
    const older = { url: 'https://old.example', description: '' }
    Object.assign(ledger, { requests: [OLDER], older, isPaidMeanwhile: true })
    await expect(run(() => {}, wished)).rejects.toMatchObject({ payment: 'locked' })
    expect(ledger.accepts).toBe(0)
  })
})

describe('a name that is paid for with another url or description', () => {
  const effective = { url: 'https://old.example', description: 'old' }

  it.each([
    ['locked', { payments: [PAYMENT] }],
    ['paid', { isOwned: true }],
  ])('is reported as such, with the payment state: %s', async (payment, state) => {
    const { ledger, run } = world(() => {})
    Object.assign(ledger, { asked: effective, ...state })
    await expect(run(() => {}, { url: 'https://new.example' })).rejects.toMatchObject({
      code: 'REGISTRATION_DIFFERS',
      payment,
      definite: true,
      retryable: false,
      details: { requested: { ...effective, url: 'https://new.example' }, effective },
    })
    expect(ledger.accepts).toBe(0)
  })

  it('is reported at the end if it was not known before', async () => {
    const { ledger, run } = world(
      () => {},
      (state) => {
        state.payments = []
        state.isOwned = true
      },
    )
    Object.assign(ledger, { asked: effective, payments: [PAYMENT], isUntold: true })
    await expect(run(() => {}, { description: '' })).rejects.toMatchObject({
      code: 'REGISTRATION_DIFFERS',
      payment: 'paid',
    })
  })

  it('is in the result if the call passes none', async () => {
    const { ledger, run, accepted } = world(() => {})
    Object.assign(ledger, { asked: effective, isOwned: true, autoRenew: false })
    expect(await run()).toMatchObject({ wasOwned: true, entry: effective, autoRenew: false })
    expect(await run(() => {}, { autoRenew: true })).toMatchObject({ autoRenew: true })
    expect(ledger.autoRenew).toBe(true)
    expect(accepted[0]).toBe(`${NAME} ${PARTY}`)
  })

  it('has the automatic renewal that the call passes, also of one that is paused', async () => {
    const { ledger, run } = world(() => {})
    Object.assign(ledger, { asked: effective, isOwned: true, autoRenew: true, isPaused: true })
    expect(await run(() => {}, { autoRenew: false })).toMatchObject({ autoRenew: false })
    // What it is once the administrator lifts the pause.
    expect(ledger.autoRenew).toBe(false)
  })
})

it.each<[string, Partial<RegisterInput>, string]>([
  ['an invalid name', { name: 'no name' }, 'INVALID_NAME'],
  ['a name of the network', { name: 'dso.ns' }, 'NAME_SUFFIX_MISSING'],
  ['an invalid url', { url: 'ftp://x' }, 'INVALID_URL'],
  ['a long description', { description: 'x'.repeat(141) }, 'INVALID_DESCRIPTION'],
  ['a number as url', { url: 7 as never }, 'INVALID_ARGUMENT'],
  ['a text as autoRenew', { autoRenew: 'yes' as never }, 'INVALID_ARGUMENT'],
])('%s is refused by every call, also for an owned name', async (_, input, code) => {
  const { ledger, run } = world(() => {})
  ledger.isOwned = true
  await expect(run(() => {}, input)).rejects.toMatchObject({
    code,
    payment: 'not-paid',
    definite: true,
    retryable: false,
  })
})
