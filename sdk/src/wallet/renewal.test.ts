/** The payment state of a renewal when another device paid first, or answers are lost. */
import { describe, expect, it } from 'vitest'
import { type ErrorCode, QuorumscanError } from '../errors.ts'
import type { Http } from '../http/http.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { microsOf } from '../platform/times.ts'
import { parseContractId } from '../platform/values.ts'
import type { Journal, RegistrationParts } from './registration.ts'
import { cancel, type RenewOptions, renew as renewWith, setAutoRenew } from './renewal.ts'
import type { Subscription, Wallet } from './wallet.ts'

const NAME = 'a.unverified.ns'
const PARTY = `alice::1220${'a'.repeat(64)}`
const DUE = { before: '2026-12-21T10:00:00.000000Z', after: '2027-03-21T10:00:00.000000Z' }

const DAY_MICROS = 86_400_000_000
/** The window is the last ten days of a period. */
const payData = { paymentDuration: { microseconds: String(10 * DAY_MICROS) } }
const OPENS = { before: '2026-12-11T10:00:00.000000Z', after: '2027-03-11T10:00:00.000000Z' }
const renewed = (wasPaid = false) => ({
  name: NAME,
  paidUntil: DUE.after,
  renewableFrom: OPENS.after,
  wasPaid,
})
const contract = (payload: Record<string, unknown>) => ({
  templateId: 'p:M:E',
  contractId: parseContractId(`00${'1'.repeat(64)}`),
  payload,
  createdEventBlob: '',
  createdAt: '2026-11-21T10:00:00.000000Z',
})
const subscriptionIn = (state: Subscription['state']): Subscription => ({
  subscription: contract({
    subscriptionData: { sender: PARTY, description: `ANS entry: "${NAME}"` },
  }),
  autoRenew: true,
  state,
})
const idle = (due: string) =>
  subscriptionIn({ idle: contract({ nextPaymentDueAt: due, payData }) } as Subscription['state'])
/** A state of another contract: after a payment that was returned, the due date is the same. */
const other = (createdAt: string, due = DUE.before) => {
  const state = contract({ nextPaymentDueAt: due, payData })
  const contractId = parseContractId(`00${'2'.repeat(64)}`)
  return subscriptionIn({ idle: { ...state, contractId, createdAt } } as Subscription['state'])
}
const returned = () => other('2026-12-12T00:01:00.000000Z')
const otherName = { ...idle(DUE.before), subscription: contract({}) }
const paying = () =>
  subscriptionIn({
    payment: contract({ thisPaymentDueAt: DUE.before, payData }),
  } as Subscription['state'])

const error = (code: ErrorCode, definite: boolean) =>
  new QuorumscanError(code, { code, definite, retryable: !definite })

/** `seen`: what the wallet shows, read by read; the last one is repeated. */
function world(
  pay: () => void,
  seen: readonly (Subscription | QuorumscanError)[],
  timeouts: (number | undefined)[] = [],
  now = '2026-12-12T00:00:00.000000Z',
) {
  let nowMs = 0
  let looks = 0
  const clock: Clock = {
    ...systemClock,
    nowMicros: () => microsOf(now) + nowMs * 1000,
    monotonicMs: () => nowMs,
    delay: async (ms) => {
      nowMs += ms
    },
  }
  const wallet = {
    status: async () => ({ partyId: PARTY }),
    async subscriptions({ timeoutMs }: { readonly timeoutMs?: number }) {
      timeouts.push(timeoutMs)
      const now = seen[Math.min(looks++, seen.length - 1)]
      if (now instanceof QuorumscanError) throw now
      return [now]
    },
    async paySubscription() {
      pay()
      return { paymentContractId: 'c' }
    },
  } as unknown as Wallet // All that a renewal asks of it.
  const http = {} as Http // Nothing goes past the wallet.
  const names = {} as RegistrationParts['names'] // Nor this.
  return { http, wallet, names, clock, timeoutMs: 10_000 }
}

/** `left`: what an earlier payment may still consume. */
const renew = async (
  parts: RegistrationParts,
  name: string,
  options: RenewOptions = {},
  left: readonly string[] = [],
) => {
  const journal: Journal = {
    open: async () => left,
    begin: async () => {},
    beforeSend: async () => {},
  }
  return (await renewWith(parts, name, { ...options, journal })).renewal
}

describe('a renewal that is refused', () => {
  const refuse = () => {
    throw error('CONTRACT_CONSUMED', true)
  }

  it('because the wallet pays automatically waits for that payment', async () => {
    const parts = world(refuse, [idle(DUE.before), paying(), paying(), idle(DUE.after)])
    expect(await renew(parts, NAME)).toEqual(renewed())
  })

  it('without a payment in progress has the payment state not-paid', async () => {
    const parts = world(refuse, [idle(DUE.before)])
    await expect(renew(parts, NAME)).rejects.toMatchObject({
      code: 'CONTRACT_CONSUMED',
      payment: 'not-paid',
      definite: true,
    })
  })

  it('and then cannot be read has the payment state unknown', async () => {
    const parts = world(refuse, [idle(DUE.before), error('NETWORK_ERROR', false)])
    await expect(renew(parts, NAME)).rejects.toMatchObject({
      code: 'PAYMENT_UNKNOWN',
      payment: 'unknown',
    })
  })
})

it.each([
  [
    'the subscription cannot be read: an earlier call may have paid',
    error('NETWORK_ERROR', false),
    'unknown',
  ],
  ['there is no subscription', null, 'not-paid'],
])('a renewal if %s', async (_, seen, payment) => {
  const parts = world(() => {}, seen === null ? [otherName] : [seen])
  await expect(renew(parts, NAME)).rejects.toMatchObject({ payment })
})

describe('a renewal that is paid', () => {
  it('waits for a validator that is down for a moment', async () => {
    const away = error('NETWORK_ERROR', false)
    const parts = world(() => {}, [idle(DUE.before), away, paying(), away, idle(DUE.after)])
    expect(await renew(parts, NAME)).toEqual(renewed())
  })

  it('reports a returned payment as refunded, and one that is not collected as locked', async () => {
    await expect(
      renew(
        world(() => {}, [idle(DUE.before), paying(), returned()]),
        NAME,
      ),
    ).rejects.toMatchObject({
      code: 'PAYMENT_REFUNDED',
      payment: 'refunded',
    })
    await expect(
      renew(
        world(() => {}, [idle(DUE.before), paying()]),
        NAME,
      ),
    ).rejects.toMatchObject({ code: 'PAYMENT_PENDING', payment: 'locked' })
  })

  it.each([
    ['that it paid with', idle(DUE.before)],
    ['of an earlier payment that was returned', other('2026-11-20T00:00:00.000000Z')],
    ['of the period before', other('2026-08-20T00:00:00.000000Z', '2026-09-21T10:00:00.000000Z')],
  ])('is not judged by an older read, which shows the state %s', async (_, older) => {
    const refuse = () => {
      throw error('CONTRACT_CONSUMED', true)
    }
    const paid = [idle(DUE.before), older, paying(), older, idle(DUE.after)]
    expect(
      await renew(
        world(() => {}, paid),
        NAME,
      ),
    ).toEqual(renewed())
    const byAnother = [idle(DUE.before), paying(), older, idle(DUE.after)]
    expect(await renew(world(refuse, byAnother), NAME)).toEqual(renewed())
    await expect(
      renew(
        world(() => {}, [idle(DUE.before), older]),
        NAME,
      ),
    ).rejects.toMatchObject({ code: 'PAYMENT_PENDING', payment: 'locked' })
  })

  it('whose answer is lost is repeated while its state exists, which it pays once', async () => {
    let count = 0
    const lost = () => {
      if (++count < 3) throw error('NETWORK_ERROR', false)
    }
    const seen = [...[1, 2, 3].map(() => idle(DUE.before)), paying(), idle(DUE.after)]
    expect(await renew(world(lost, seen), NAME)).toEqual(renewed())
    expect(count).toBe(3)
  })

  it('whose answer is lost, and whose repeat is refused, may have happened', async () => {
    let count = 0
    const refused = () => {
      throw count++ === 0 ? error('NETWORK_ERROR', false) : error('UNAUTHENTICATED', true)
    }
    await expect(renew(world(refused, [idle(DUE.before)]), NAME)).rejects.toMatchObject({
      code: 'PAYMENT_UNKNOWN',
      payment: 'unknown',
      cause: { code: 'UNAUTHENTICATED' },
    })
    expect(count).toBe(2)
  })

  it('is returned if its state has ended, and no payment of it exists', async () => {
    const lost = () => {
      throw error('NETWORK_ERROR', false)
    }
    await expect(renew(world(lost, [idle(DUE.before), returned()]), NAME)).rejects.toMatchObject({
      code: 'PAYMENT_REFUNDED',
      payment: 'refunded',
    })
  })
})

it('no call of a renewal or cancellation has a later deadline than the whole', async () => {
  for (const run of [renew, cancel]) {
    const timeouts: (number | undefined)[] = []
    const parts = world(() => {}, [paying()], timeouts)
    await expect(run(parts, NAME, { timeoutMs: 1000 })).rejects.toMatchObject({
      code: 'PAYMENT_PENDING',
    })
    expect(timeouts).toEqual([1000, ...timeouts.slice(1)])
    expect(timeouts.at(-1)).toBe(1)
  }
})

describe('called again after a crash, a renewal', () => {
  const never = () => {
    throw new Error('paid a second time')
  }

  it('waits for the payment in progress', async () => {
    const parts = world(never, [paying(), idle(DUE.after)])
    const steps: boolean[] = []
    const onProgress = ({ isResumed }: { readonly isResumed: boolean }) => steps.push(isResumed)
    expect(await renew(parts, NAME, { onProgress })).toEqual(renewed())
    expect(steps).toEqual([true])
  })

  it('returns the paid time if no further period can be paid yet', async () => {
    const refuse = () => {
      throw new QuorumscanError('not yet', {
        code: 'CHOICE_REFUSED',
        definite: true,
        retryable: false,
        details: { windowOpensAt: OPENS.after, windowEndsAt: DUE.after },
      })
    }
    const parts = world(refuse, [idle(DUE.after)])
    expect(await renew(parts, NAME)).toEqual(renewed(true))
    // The same refusal after the window: the entry has expired.
    const late = world(refuse, [idle(DUE.after)], [], '2027-03-21T11:00:00.000000Z')
    await expect(renew(late, NAME)).rejects.toMatchObject({
      code: 'CHOICE_REFUSED',
      payment: 'not-paid',
    })
  })

  it('pays only for the chosen period, for any width of the window', async () => {
    const parts = world(never, [idle(DUE.after)])
    expect(await renew(parts, 'A', { after: DUE.before })).toEqual(renewed(true))
    // Lists show the time in milliseconds, entries in microseconds.
    let count = 0
    const pays = world(() => void count++, [idle(DUE.before), idle(DUE.after)])
    await renew(pays, NAME, { after: DUE.before })
    expect(count).toBe(1)
  })
})

it('a second cancellation changes nothing while the name is live', async () => {
  const cancelled = (party: string): RegistrationParts => {
    const lookup = async () => ({ kind: 'proven', value: { party } })
    const names = { lookup } as unknown as RegistrationParts['names']
    return { ...world(() => {}, [otherName]), http: { offset: () => 7 } as Http, names }
  }
  expect(await cancel(cancelled(PARTY), NAME)).toEqual({ offset: 7 })
  await expect(cancel(cancelled('bob'), NAME)).rejects.toMatchObject({ code: 'CONTRACT_NOT_FOUND' })
})

it('automatic payments are set for a name', async () => {
  const set: unknown[] = []
  const parts = world(() => {}, [idle(DUE.before)])
  const wallet = {
    ...parts.wallet,
    async setAutoRenew(contractId: string, isEnabled: boolean) {
      set.push(contractId, isEnabled)
      return { offset: 7 }
    },
  }
  expect(await setAutoRenew({ ...parts, wallet }, 'A', { isEnabled: false })).toEqual({ offset: 7 })
  expect(set).toEqual([`00${'1'.repeat(64)}`, false])
})

it('an invalid name or time is refused before any request', async () => {
  const parts = world(() => {}, [])
  await expect(renew(parts, 'no name')).rejects.toMatchObject({ code: 'INVALID_NAME' })
  await expect(cancel(parts, 'dso.ns')).rejects.toMatchObject({ code: 'NAME_SUFFIX_MISSING' })
  await expect(renew(parts, NAME, { after: 'soon' })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    payment: 'not-paid',
  })
})
