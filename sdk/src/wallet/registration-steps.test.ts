/** Registrations with a ledger that loses answers: each pays at most once, and reports the state of the payment. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type PaymentState, QuorumscanError } from '../errors.ts'
import type { NameEntry } from '../names/lookup-types.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import type { ContractId } from '../platform/values.ts'
import { type Calls, type Found, runSteps } from './registration-steps.ts'

const ENDS_AT_MS = 20_000
const cid = (digit: number) => `00${String(digit).repeat(64)}` as ContractId
const lost = () =>
  new QuorumscanError('lost', { code: 'NETWORK_ERROR', definite: false, retryable: true })
const refused = () =>
  new QuorumscanError('refused', { code: 'CHOICE_REFUSED', definite: true, retryable: false })
const gone = () =>
  new QuorumscanError('gone', { code: 'CONTRACT_CONSUMED', definite: true, retryable: false })

/** The result of a call: success, an answer lost after or before its effect, or a refusal. */
const fate = fc.constantFrom('works', 'works', 'lost-after', 'lost-before', 'refused')
const fates = fc.array(fate, { minLength: 1, maxLength: 40 })
/** Whether the super-validators confirm a payment, and after how many calls. */
const verdict = fc.record({ isConfirmed: fc.boolean(), calls: fc.integer({ min: 0, max: 30 }) })

type Ledger = { requests: ContractId[]; payment: ContractId | null; isOwned: boolean }

/** What the calls of a registration do on a ledger. */
function callsOn(ledger: Ledger, pays: () => void): Calls {
  return {
    async readState(): Promise<Found> {
      if (ledger.isOwned) return { kind: 'owned' }
      const { payment: paymentCid, requests } = ledger
      if (paymentCid !== null) return { kind: 'paid', paymentCid, requestCid: cid(1) }
      return requests.length > 0
        ? { kind: 'requested', requestCids: [...requests] }
        : { kind: 'nothing' }
    },
    isShown: async () => ledger.isOwned,
    async request() {
      const requestCid = cid(ledger.requests.length + 1)
      ledger.requests.push(requestCid)
      return requestCid
    },
    choose: async ([first = null]) => first,
    async reject(requestCid) {
      ledger.requests = ledger.requests.filter((each) => each !== requestCid)
    },
    async pay(requestCid) {
      if (!ledger.requests.includes(requestCid)) throw gone()
      ledger.requests = ledger.requests.filter((each) => each !== requestCid)
      ledger.payment = cid(9)
      pays()
      return cid(9)
    },
    compare: async () => {},
    confirm: async () => (ledger.payment === null ? ledger.isOwned : null),
    resolve: async () => (ledger.isOwned ? ({} as NameEntry) : null),
  }
}

/** Runs one registration to its end; `before` runs before each call, and may end the process by an error. */
async function run(calls: Calls, fateOf: () => string, before: () => void) {
  let nowMs = 0
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => nowMs,
    async delay(ms) {
      nowMs += ms
    },
  }
  const made: string[] = []
  const payments: PaymentState[] = ['unknown']
  const subject = new Proxy(calls, {
    get: (target, name: keyof Calls) => async (input: never) => {
      made.push(name)
      before()
      const fate = fateOf()
      if (fate === 'refused') throw refused()
      if (fate === 'lost-before') throw lost()
      const result = await target[name](input)
      if (fate === 'lost-after') throw lost()
      return result
    },
  })
  const error = await runSteps(subject, {
    name: 'a.unverified.ns',
    clock,
    signal: undefined,
    endsAtMs: ENDS_AT_MS,
    onProgress: () => {},
    onPayment: (state) => payments.push(state),
  }).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  return { error, made, payments, payment: payments.at(-1) }
}

it('a registration never has two payments, with any calls, lost answers and crashes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fates,
      verdict,
      fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 5 }),
      async (fateList, { isConfirmed, calls }, crashes) => {
        const ledger: Ledger = { requests: [], payment: null, isOwned: false }
        let turn = 0
        let lockedFor = 0
        let payments = 0
        const pays = () => {
          // No coin is locked for a name that the user owns.
          expect(ledger.isOwned).toBe(false)
          payments++
        }
        for (const crash of crashes) {
          const paidBefore = payments
          let count = 0
          const before = () => {
            if (++count > crash) throw new TypeError('crashed')
            if (ledger.payment === null || lockedFor++ < calls) return
            lockedFor = 0
            ledger.payment = null
            ledger.isOwned = isConfirmed
          }
          const fateOf = () => fateList[turn++ % fateList.length] ?? 'works'
          const { error, made, payment } = await run(callsOn(ledger, pays), fateOf, before)
          // One call pays once at most; a later call pays again only after a refund.
          expect(payments - paidBefore).toBeLessThanOrEqual(1)
          if (isConfirmed) expect(payments).toBeLessThanOrEqual(1)
          // No request is made after an attempt to pay.
          const pay = made.indexOf('pay')
          expect(pay === -1 ? [] : made.slice(pay + 1)).not.toContain('request')
          // A request whose answer is lost is waited for, not repeated.
          expect(made.filter((name) => name === 'request').length).toBeLessThanOrEqual(1)
          if (!(error instanceof QuorumscanError)) continue
          // A refusal proves nothing about an earlier payment whose answer is lost.
          if (payment === 'unknown' && made.at(-1) === 'pay') expect(error.definite).toBe(false)
          // A payment of this call is not reported as not paid, nor as refunded while locked.
          if (payments > paidBefore) expect(payment).not.toBe('not-paid')
          if (payment === 'refunded') {
            expect(ledger.payment).toBeNull()
            expect(ledger.isOwned).toBe(false)
          }
        }
      },
    ),
    { numRuns: 500 },
  )
})

it('an acknowledged payment remains known', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fate, { maxLength: 10 }), async (later) => {
      const ledger: Ledger = { requests: [cid(1)], payment: null, isOwned: false }
      // The first read, the choice and the payment succeed.
      const fateList = ['works', 'works', 'works', ...later]
      let turn = 0
      const fateOf = () => fateList[turn++] ?? 'lost-after'
      const { payment, payments } = await run(
        callsOn(ledger, () => {}),
        fateOf,
        () => {},
      )
      expect(payments).toContain('locked')
      expect(payment).toBe('locked')
    }),
  )
})
