/** The fake wallet and the real one, one after the other, under the same expectations. */
import { catalogue, type ErrorCode } from '@quorumscan/errors'
import { formatInstant, membersOf, parseInstant } from '@quorumscan/verifier'
import * as wallet from '@quorumscan/wallet'
import { afterEach, describe, expect, it } from 'vitest'
// @boundaries-ignore The real wallet in one process has no entry point.
import { type FakeFailure, fakeValidator } from '../../sdk/src/fake-validator.ts'
// @boundaries-ignore The real wallet in one process has no entry point.
import { parseParty } from '../../sdk/src/platform/parse-party.ts'
// @boundaries-ignore The real wallet in one process has no entry point.
import { addAmounts, type ContractId } from '../../sdk/src/platform/values.ts'
// @boundaries-ignore The real wallet in one process has no entry point.
import type { PaymentResult } from '../../sdk/src/wallet/payment-result.ts'
// @boundaries-ignore The real wallet in one process has no entry point.
import * as store from '../../sdk/src/wallet/payment-store.ts'
// @boundaries-ignore The real wallet in one process has no entry point.
import * as payments from '../../sdk/src/wallet/payments.ts'
// @boundaries-ignore The real wallet in one process has no entry point.
import * as client from '../../sdk/src/wallet/wallet.ts'
import { createTestClock, pays, World } from './world.ts'

type Wallet = client.Wallet
type Transaction = client.Transaction
type Controlled = {
  readonly payments: payments.Payments
  readonly wallet: Pick<Wallet, 'balance' | 'transfers' | 'transactions'>
  readonly party: ReturnType<typeof parseParty>
  /** Another party. */
  readonly other: ReturnType<typeof parseParty>
  nowMicros(): number
  advance(micros: number): void
  /** Ends the deadlines of requests without an answer. */
  expire(): void
  fail(failure: FakeFailure | null): void
  deliver(): Promise<void>
  /** Another device of the user, whose clock is ahead by so much. */
  device(skewMicros: number): payments.Payments
  /** The other party offers coin to the user. */
  offer(coin: string, expiresAt?: string): Promise<ContractId>
  /** The other party answers an offer of the user. */
  answerOffer(id: ContractId, answer: 'accept' | 'reject'): Promise<void>
  /** The other party owns a name. */
  take(name: string): void
}

const OTHER = parseParty(`other::1220${'b'.repeat(64)}`)
const EFFECTS = { before: 'none', during: 'later', after: 'now' } as const
const MINUTE_MICROS = 60_000_000
const HOUR_MICROS = 60 * MINUTE_MICROS
const DAY_MICROS = 24 * HOUR_MICROS
const START_MICROS = 1_700_000_000_000_000
/** For all steps of a registration or renewal. */
const WAIT_MS = 6_000
/** Turns of the event loop after which a call that is not over waits for a deadline. */
const TURNS = 500

function fake(): Controlled {
  let micros = START_MICROS
  const nowMicros = () => micros
  const { clock, expire } = createTestClock(nowMicros)
  const party = parseParty(`alice::1220${'a'.repeat(64)}`)
  const made = fakeValidator({ party, coin: '1000.0', clock })
  return {
    ...made,
    other: OTHER,
    nowMicros,
    advance(by) {
      micros += by
    },
    expire,
    device(skewMicros) {
      const ahead = { ...clock, nowMicros: () => micros + skewMicros }
      return made.another({ clock: ahead }).payments
    },
    offer: async (coin, expiresAt) =>
      made.offer({ sender: OTHER, coin, ...(expiresAt !== undefined && { expiresAt }) }),
    answerOffer: async (id, answer) => made.answerOffer(id, answer),
    take: (name) => made.names.changeOwner(name, OTHER),
  }
}

function real(): Controlled {
  // As at the fake: the next period of a name can be paid at once.
  const modules = { wallet, client, payments, store }
  const world = new World(modules, { renewalDurationMicros: 90 * DAY_MICROS })
  const bob = world.client({ user: 'bob' })
  return {
    payments: world.client({ user: 'alice' }),
    wallet: world.wallet('alice'),
    party: parseParty(world.alice.party),
    other: parseParty(world.bob.party),
    nowMicros: () => world.nowMicros(),
    advance: (micros) => world.advance(micros),
    expire: world.expire,
    fail(failure) {
      if (failure === null) return world.heal()
      const { how, when, of, isLasting = false } = failure
      const isShape = how === 'lost' || how === 'half' || how === 'html' || how === 'silence'
      const meets = of === 'other' ? (call: string) => !pays(call) : pays
      const more = { effect: EFFECTS[when], meets, isLasting }
      if (how === 'silence') return world.fail({ ...more, answer: 'never' })
      if (isShape) return world.fail({ ...more, answer: how })
      const { httpStatus: status, definite, retryable } = catalogue[how as ErrorCode]
      world.fail({ ...more, answer: { status, code: how, definite, retryable } })
    },
    deliver: () => world.deliver(),
    device: (skewMicros) => world.client({ user: 'alice', skewMicros }),
    async offer(coin, expiresAt) {
      const more = expiresAt === undefined ? {} : { expiresAt }
      const { result } = doneOf(
        await bob.transfer({ receiver: parseParty(world.alice.party), coin, ...more }),
      )
      return offerIn(result)
    },
    async answerOffer(id, answer) {
      doneOf(await (answer === 'accept' ? bob.acceptTransfer(id) : bob.rejectTransfer(id)))
    },
    take: (name) => void world.scenario.register(world.bob, name),
  }
}

function doneOf<T>(result: PaymentResult<T>) {
  if (result.kind !== 'done') throw result.error
  return result
}

function offerIn({ output }: { readonly output: object }): ContractId {
  return membersOf(output)['transferInstructionCid'] as ContractId
}

const microsOf = (time: unknown): number => parseInstant(String(time)) ?? Number.NaN

/** The end of a call, some of whose requests may get no answer. */
async function patiently<T>({ expire }: Controlled, call: Promise<T>): Promise<T> {
  let isOver = false
  const end = () => {
    isOver = true
  }
  call.then(end, end)
  while (!isOver) {
    for (let turn = 0; turn < TURNS && !isOver; turn++)
      await new Promise((resolve) => setImmediate(resolve))
    expire()
  }
  return await call
}

/** What a row of the history says, with roles in place of parties. */
function rowOf({ party, other }: Controlled, row: Transaction): string {
  const roleOf = (of: unknown) => (of === party ? 'user' : of === other ? 'other' : 'operator')
  const amountOf = (of: unknown) => `${roleOf(membersOf(of)['party'])} ${membersOf(of)['amount']}`
  const { sender, receivers, description, ...offer } = membersOf(row)
  const receiver = offer['transferInstructionReceiver']
  return [
    row.transactionType,
    row.transactionSubtype.choice,
    sender === undefined ? '' : amountOf(sender),
    Array.isArray(receivers) ? receivers.map(amountOf).join() : '',
    receiver == null ? '' : roleOf(receiver),
    offer['transferInstructionAmount'],
    offer['transferInstructionCid'] === null ? 'no offer' : 'offer',
    description,
  ].join(' | ')
}

const ofPlatform = globalThis.navigator
afterEach(() => {
  Object.defineProperty(globalThis, 'navigator', { value: ofPlatform, configurable: true })
})

/** What the user learns of a transfer, whenever it takes effect. Definite errors that may pass are tried again. */
const ENDS = {
  lost: 'unknown',
  half: 'unknown',
  html: 'unknown',
  silence: 'unknown',
  UNAUTHENTICATED: 'refused',
  PERMISSION_DENIED: 'refused',
  CHOICE_REFUSED: 'refused',
  REQUEST_TIMEOUT: 'done',
  RATE_LIMITED: 'done',
  INTERNAL: 'unknown',
  SUBMISSION_UNKNOWN: 'unknown',
} as const
type How = keyof typeof ENDS
const FAILURES = (Object.keys(ENDS) as How[]).flatMap((how) =>
  (['before', 'during', 'after'] as const).map((when) => [how, when] as const),
)

describe.each([
  ['fakeValidator', fake],
  ['the wallet', real],
])('%s', (_, create) => {
  const coinOf = async ({ wallet }: Controlled, before: Awaited<ReturnType<Wallet['balance']>>) => {
    const { effectiveUnlockedQty, effectiveLockedQty } = await wallet.balance()
    const change = addAmounts(effectiveUnlockedQty, `-${before.effectiveUnlockedQty}`)
    return [change, effectiveLockedQty]
  }

  it('offers coin, which the receiver accepts or rejects', async () => {
    const one = create()
    const before = await one.wallet.balance()
    const offered = doneOf(await one.payments.transfer({ receiver: one.other, coin: '1.5' }))
    expect(await coinOf(one, before)).toEqual(['-1.5000000000', '1.5000000000'])
    await one.answerOffer(offerIn(offered.result), 'accept')
    expect(await coinOf(one, before)).toEqual(['-1.5000000000', '0.0000000000'])
    const next = doneOf(await one.payments.transfer({ receiver: one.other, coin: '2.0' }))
    await one.answerOffer(offerIn(next.result), 'reject')
    expect(await coinOf(one, before)).toEqual(['-1.5000000000', '0.0000000000'])
  })

  it('answers offers to the user, taps, and refuses what it cannot pay', async () => {
    const one = create()
    const before = await one.wallet.balance()
    doneOf(await one.payments.acceptTransfer(await one.offer('3.0')))
    doneOf(await one.payments.rejectTransfer(await one.offer('4.0')))
    expect(await coinOf(one, before)).toEqual(['3.0000000000', '0.0000000000'])
    const taps = [1, 2].map(() => one.payments.tap({ usd: '1.0', commandId: 'one' }))
    for (const tap of await Promise.all(taps)) expect(tap.kind).toBe('done')
    const much = await one.payments.transfer({ receiver: one.other, coin: '1000000.0' })
    expect(much).toMatchObject({ kind: 'refused', error: { code: 'INSUFFICIENT_FUNDS' } })
  })

  it('registers a name once, and none of another party', async () => {
    const one = create()
    const first = doneOf(await one.payments.register({ name: 'erin', url: 'https://erin.example' }))
    expect(first.result).toMatchObject({ name: 'erin.unverified.ns', wasOwned: false })
    const again = doneOf(await one.payments.register({ name: 'erin' }))
    expect(again.result).toMatchObject({ wasOwned: true, entry: { url: 'https://erin.example' } })
    one.take('taken.unverified.ns')
    const taken = await one.payments.register({ name: 'taken' })
    expect(taken).toMatchObject({ kind: 'refused', error: { code: 'NAME_TAKEN' } })
  })

  it('renews a name for one further period, inside its window', async () => {
    const one = create()
    const { result } = doneOf(await one.payments.register({ name: 'erin' }))
    const before = await one.wallet.balance()
    const renewed = doneOf(await one.payments.renew('erin', { timeoutMs: WAIT_MS }))
    const { expiresAt } = result.entry
    expect(microsOf(renewed.result.paidUntil) - microsOf(expiresAt)).toBe(90 * DAY_MICROS)
    expect(renewed.result).toMatchObject({ wasPaid: false, renewableFrom: expiresAt })
    const again = doneOf(await one.payments.renew('erin', { timeoutMs: WAIT_MS }))
    const { paidUntil } = renewed.result
    expect(again.result).toMatchObject({ wasPaid: true, paidUntil })
    expect(await coinOf(one, before)).toEqual(['-200.0000000000', '0.0000000000'])
    one.advance(91 * DAY_MICROS)
    doneOf(await one.payments.renew('erin', { after: paidUntil, timeoutMs: WAIT_MS }))
    expect(await coinOf(one, before)).toEqual(['-400.0000000000', '0.0000000000'])
  })

  it('lists open offers, newest or largest first, and of one sender', async () => {
    const one = create()
    const { wallet, payments, other, party } = one
    const idsOf = async (options?: Parameters<Wallet['transfers']>[0]) =>
      (await wallet.transfers(options)).map(({ contractId }) => contractId)
    const [small, large] = [await one.offer('1.0'), await one.offer('30.0')]
    const middle = offerIn(doneOf(await payments.transfer({ receiver: other, coin: '2.0' })).result)
    expect(await idsOf()).toEqual([middle, large, small])
    expect(await idsOf({ order: 'amount' })).toEqual([large, middle, small])
    expect(await idsOf({ limit: 2 })).toEqual([middle, large])
    expect(await idsOf({ sender: other })).toEqual([large, small])
    const [shown] = await wallet.transfers({ sender: party })
    const transfer = membersOf(shown?.payload['transfer'])
    expect(transfer).toMatchObject({ sender: party, receiver: other, amount: '2.0000000000' })
    const life = microsOf(transfer['executeBefore']) - microsOf(transfer['requestedAt'])
    expect(Math.round(life / MINUTE_MICROS)).toBe(24 * 60)
  })

  it('ends offers when they expire, and returns the coin', async () => {
    const one = create()
    const before = await one.wallet.balance()
    const expiresAt = formatInstant(one.nowMicros() + HOUR_MICROS)
    const offer = await one.offer('5.0', expiresAt)
    doneOf(await one.payments.transfer({ receiver: one.other, coin: '1.5', expiresAt }))
    one.advance(HOUR_MICROS)
    expect(await one.wallet.transfers()).toEqual([])
    expect(await coinOf(one, before)).toEqual(['0.0000000000', '0.0000000000'])
    expect(await one.payments.acceptTransfer(offer)).toMatchObject({
      kind: 'refused',
      error: { code: 'CONTRACT_CONSUMED' },
    })
  })

  it('has the history of the user, newest first', async () => {
    const one = create()
    const { payments, other, party } = one
    doneOf(await payments.tap({ usd: '1.0' }))
    const offered = [
      await payments.transfer({ receiver: other, coin: '1.5', description: 'lunch' }),
      await payments.transfer({ receiver: other, coin: '2.5' }),
      await payments.transfer({ receiver: other, coin: '3.5' }),
    ].map((made) => offerIn(doneOf(made).result))
    const [accepted, rejected, withdrawn] = offered as [ContractId, ContractId, ContractId]
    await one.answerOffer(accepted, 'accept')
    await one.answerOffer(rejected, 'reject')
    doneOf(await payments.withdrawTransfer(withdrawn))
    doneOf(await payments.acceptTransfer(await one.offer('4.0')))
    doneOf(await payments.transfer({ receiver: party, coin: '6.0' }))
    doneOf(await payments.register({ name: 'erin' }))
    doneOf(await payments.renew('erin', { timeoutMs: WAIT_MS }))
    const expiresAt = formatInstant(one.nowMicros() + HOUR_MICROS)
    doneOf(await payments.transfer({ receiver: other, coin: '7.0', expiresAt }))
    one.advance(HOUR_MICROS)
    const rows: Transaction[] = []
    for await (const row of one.wallet.transactions({ pageSize: 3 })) rows.push(row)
    const ids = rows.map(({ eventId }) => eventId)
    expect(ids.toSorted().reverse()).toEqual(ids)
    expect(rows.slice(0, HISTORY.length).map((row) => rowOf(one, row))).toEqual(HISTORY)
  })

  it.each(FAILURES)('%s %s the effect pays at most once', async (how, when) => {
    const one = create()
    const before = await one.wallet.balance()
    one.fail({ how, when })
    const sent = await patiently(one, one.payments.transfer({ receiver: one.other, coin: '1.5' }))
    await one.deliver()
    expect(sent.kind).toBe(ENDS[how])
    if (sent.kind === 'refused') return
    if (sent.kind === 'unknown') {
      expect(await one.payments.unfinished()).toHaveLength(1)
      expect(await sent.settle()).toMatchObject({ kind: 'done' })
    }
    expect(await one.payments.unfinished()).toEqual([])
    expect(await coinOf(one, before)).toEqual(['-1.5000000000', '1.5000000000'])
  })

  it.each(['lost', 'silence', 'INTERNAL'] as const)(
    'without an answer to reads (%s) nothing is paid, and a name may have been paid before',
    async (how) => {
      const one = create()
      const before = await one.wallet.balance()
      one.fail({ how, when: 'before', of: 'other', isLasting: true })
      const sending = one.payments.transfer({ receiver: one.other, coin: '1.5' })
      expect((await patiently(one, sending)).kind).toBe('refused')
      const registering = one.payments.register({ name: 'erin' })
      const failed = patiently(one, registering).catch((error: unknown) => error)
      expect(await failed).toMatchObject({ payment: 'unknown', definite: false })
      one.fail(null)
      expect(await coinOf(one, before)).toEqual(['0.0000000000', '0.0000000000'])
    },
  )

  it.each([10, -10])('pays once from a device whose clock is %s minutes ahead', async (minutes) => {
    const one = create()
    const before = await one.wallet.balance()
    const device = one.device(minutes * MINUTE_MICROS)
    one.fail({ how: 'lost', when: 'after' })
    const sent = await device.transfer({ receiver: one.other, coin: '1.5' })
    expect(sent.kind).toBe('unknown')
    const [left] = await device.unfinished()
    expect(await left?.settle()).toMatchObject({ kind: 'done' })
    expect(await coinOf(one, before)).toEqual(['-1.5000000000', '1.5000000000'])
  })

  it.each([
    ['a day and an hour behind', -25 * HOUR_MICROS],
    ['a month ahead', 31 * DAY_MICROS],
  ])('refuses the expiry of a device whose clock is %s', async (_, skewMicros) => {
    const one = create()
    const sent = await one.device(skewMicros).transfer({ receiver: one.other, coin: '1.5' })
    expect(sent).toMatchObject({ kind: 'refused', error: { code: 'INVALID_ARGUMENT' } })
    expect(await one.wallet.transfers()).toEqual([])
  })

  it('knows a payment by its id on another device, also after its expiry, and refuses other content', async () => {
    const one = create()
    const expiresAt = formatInstant(one.nowMicros() + HOUR_MICROS)
    const transfer = { receiver: one.other, coin: '1.5', expiresAt, trackingId: 'own' }
    const first = doneOf(await one.payments.transfer(transfer))
    const other = await one.device(0).transfer({ ...transfer, coin: '2.0' })
    expect(other).toMatchObject({ kind: 'refused', error: { code: 'PAYMENT_DIFFERS' } })
    one.advance(2 * HOUR_MICROS)
    const again = doneOf(await one.device(0).transfer(transfer))
    expect(again.updateId).toBe(first.updateId)
  })

  it('refuses a payment that did not take effect before its expiry', async () => {
    const one = create()
    const before = await one.wallet.balance()
    const expiresAt = formatInstant(one.nowMicros() + HOUR_MICROS)
    one.fail({ how: 'lost', when: 'during' })
    const sent = await one.payments.transfer({ receiver: one.other, coin: '1.5', expiresAt })
    one.advance(2 * HOUR_MICROS)
    const end = sent.kind === 'unknown' ? await sent.settle({ send: false }) : sent
    expect(end).toMatchObject({ kind: 'refused', error: { code: 'SUBMISSION_EXPIRED' } })
    await one.deliver()
    expect(await coinOf(one, before)).toEqual(['0.0000000000', '0.0000000000'])
  })
})

/** Type, step, sender with the change of its balance, receivers, and the offer with its receiver and amount. */
const HISTORY = [
  'balance_change | TransferInstruction_Expire |  |  |  |  | offer | ',
  'transfer | CoinRules_CreateTransferInstruction | user 0.0000000000 | user 7.0000000000 | other | 7.0000000000 | offer | ',
  'transfer | AnsRules_CollectEntryRenewalPayment | user -200.0000000000 | operator 200.0000000000 |  |  | no offer | ',
  'transfer | SubscriptionIdleState_MakePayment | user 0.0000000000 | user 200.0000000000 |  |  | no offer | ',
  'transfer | AnsRules_CollectInitialEntryPayment | user -200.0000000000 | operator 200.0000000000 |  |  | no offer | ',
  'transfer | SubscriptionRequest_AcceptAndMakePayment | user 0.0000000000 | user 200.0000000000 |  |  | no offer | ',
  'transfer | CoinRules_Transfer | user 0.0000000000 | user 6.0000000000 |  |  | no offer | ',
  'transfer | TransferInstruction_Accept | other -4.0000000000 | user 4.0000000000 |  |  | offer | ',
  'transfer | CoinRules_CreateTransferInstruction | other 0.0000000000 | other 4.0000000000 | user | 4.0000000000 | offer | ',
  'balance_change | TransferInstruction_Withdraw |  |  |  |  | offer | ',
  'balance_change | TransferInstruction_Reject |  |  |  |  | offer | ',
  'transfer | TransferInstruction_Accept | user -1.5000000000 | other 1.5000000000 |  |  | offer | ',
  'transfer | CoinRules_CreateTransferInstruction | user 0.0000000000 | user 3.5000000000 | other | 3.5000000000 | offer | ',
  'transfer | CoinRules_CreateTransferInstruction | user 0.0000000000 | user 2.5000000000 | other | 2.5000000000 | offer | ',
  'transfer | CoinRules_CreateTransferInstruction | user 0.0000000000 | user 1.5000000000 | other | 1.5000000000 | offer | lunch',
  'balance_change | CoinRules_DevNet_Tap |  | user 200.0000000000 |  |  | no offer | ',
]
