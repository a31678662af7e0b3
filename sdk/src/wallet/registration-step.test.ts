/** A registration is walked against a ledger that loses answers: whatever is lost, it pays at most once and says so. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { QuorumscanError } from '../errors.ts'
import type { NameEntry } from '../names/lookups.ts'
import type { ContractId } from '../platform/values.ts'
import { BEGUN, type Event, type Found, type State, step, type Task } from './registration-step.ts'

const ENDS_AT_MS = 20_000
const cid = (digit: number) => `00${String(digit).repeat(64)}` as ContractId
const lost = new QuorumscanError('lost', {
  code: 'NETWORK_ERROR',
  definite: false,
  retryable: true,
})
const refused = new QuorumscanError('refused', {
  code: 'CHOICE_REFUSED',
  definite: true,
  retryable: false,
})
const failed = (error: QuorumscanError, isGone = false): Event => ({
  kind: 'failed',
  error,
  isCertain: error.definite,
  isGone,
  isPassing: error.retryable,
})

/** What becomes of each call in turn: it works, its answer is lost after or before it had an effect, or it is refused. */
const fate = fc.constantFrom('works', 'works', 'lost-after', 'lost-before', 'refused')
const fates = fc.array(fate, { minLength: 1, maxLength: 40 })
/** What the super-validators make of a payment, and after how many calls. */
const verdict = fc.record({ isConfirmed: fc.boolean(), calls: fc.integer({ min: 0, max: 30 }) })

type Ledger = { requests: ContractId[]; payment: ContractId | null; isOwned: boolean }

/** Runs one call of `register` to its end; `crashes` ends it after so many tasks. */
function run(
  ledger: Ledger,
  fateOf: () => string,
  decide: () => void,
  { pays, crashes }: { readonly pays: (requestCid: ContractId) => void; readonly crashes: number },
) {
  let nowMs = 0
  const found = (): Found => {
    if (ledger.isOwned) return { kind: 'owned' }
    const { payment: paymentCid, requests } = ledger
    if (paymentCid !== null) return { kind: 'paid', paymentCid, requestCid: cid(1) }
    return requests.length > 0
      ? { kind: 'requested', requestCids: [...requests] }
      : { kind: 'nothing' }
  }
  const perform = (task: Task): Event => {
    switch (task.kind) {
      case 'look':
        return { kind: 'found', found: found() }
      case 'compare':
        return { kind: 'compared' }
      case 'ask':
        return { kind: 'found', found: ledger.isOwned ? { kind: 'owned' } : { kind: 'nothing' } }
      case 'request': {
        const requestCid = cid(ledger.requests.length + 1)
        ledger.requests.push(requestCid)
        return { kind: 'requested', requestCid }
      }
      case 'choose':
        return { kind: 'chosen', requestCid: task.requestCids[0] ?? null }
      case 'pay':
        if (!ledger.requests.includes(task.requestCid)) return failed(refused, true)
        ledger.requests = ledger.requests.filter((each) => each !== task.requestCid)
        ledger.payment = cid(9)
        pays(task.requestCid)
        return { kind: 'paid', paymentCid: cid(9) }
      case 'confirm':
        return { kind: 'decided', isOurs: ledger.payment === null ? ledger.isOwned : null }
      case 'resolve':
        return { kind: 'resolved', entry: ledger.isOwned ? ({} as NameEntry) : null }
      default:
        throw new Error(`${task.kind} is no call`)
    }
  }
  let state: State = BEGUN
  const tasks: string[] = []
  for (let count = 0; count < crashes; count++) {
    const { task } = state
    if (task.kind === 'fail' || task.kind === 'finish') return { state, tasks }
    tasks.push(task.kind)
    if (state.isPaused) nowMs += 300
    decide()
    const fate = fateOf()
    const event =
      fate === 'refused' ? failed(refused) : fate === 'lost-before' ? failed(lost) : perform(task)
    const heard = fate === 'lost-after' ? failed(lost) : event
    state = step(state, heard, { name: 'a.unverified.ns', nowMs, endsAtMs: ENDS_AT_MS })
  }
  return { state, tasks }
}

it('a registration never has two payments, with any calls, lost answers and crashes', () => {
  fc.assert(
    fc.property(
      fates,
      verdict,
      fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 5 }),
      (fateList, { isConfirmed, calls }, crashes) => {
        const ledger: Ledger = { requests: [], payment: null, isOwned: false }
        let turn = 0
        let lockedFor = 0
        let payments = 0
        const decide = () => {
          if (ledger.payment === null || lockedFor++ < calls) return
          lockedFor = 0
          ledger.payment = null
          ledger.isOwned = isConfirmed
        }
        for (const crash of crashes) {
          const paidBefore = payments
          const pays = () => {
            // Coin is locked only where none is, and the name is not the user's.
            expect(ledger.isOwned).toBe(false)
            payments++
          }
          const { state, tasks } = run(
            ledger,
            () => fateList[turn++ % fateList.length] ?? 'works',
            decide,
            { pays, crashes: crash },
          )
          // One call pays once at most; across calls a second time only after all of it came back.
          expect(payments - paidBefore).toBeLessThanOrEqual(1)
          if (isConfirmed) expect(payments).toBeLessThanOrEqual(1)
          // Nothing is requested once a payment was tried whose effect is not known.
          const pay = tasks.indexOf('pay')
          expect(pay === -1 ? [] : tasks.slice(pay + 1)).not.toContain('request')
          // What took effect in this call is not reported as never paid, nor as refunded while it is locked.
          if (state.task.kind === 'fail' && payments > paidBefore)
            expect(state.payment).not.toBe('not-paid')
          if (state.task.kind === 'fail' && state.payment === 'refunded') {
            expect(ledger.payment).toBeNull()
            expect(ledger.isOwned).toBe(false)
          }
        }
      },
    ),
    { numRuns: 500 },
  )
})

it('an acknowledged payment remains known', () => {
  const world = { name: 'a.unverified.ns', nowMs: 0, endsAtMs: ENDS_AT_MS }
  const paying: State = {
    ...BEGUN,
    wasThere: 'nothing',
    payment: 'not-paid',
    task: { kind: 'pay', requestCid: cid(1) },
  }
  const paid = step(paying, { kind: 'paid', paymentCid: cid(9) }, world)
  expect(paid.task).toEqual({ kind: 'confirm', paymentCid: cid(9) })
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(failed(lost), failed(refused)), { maxLength: 10 }),
      (events) => {
        let state = paid
        for (const event of events)
          if (state.task.kind === 'confirm') state = step(state, event, world)
        expect(state.payment).toBe('locked')
      },
    ),
  )
})
