/** Renews names of the user, or ends their subscriptions. */
import { formatInstant, membersOf } from '@quorumscan/verifier'
import { failure, isQuorumscanError, type QuorumscanError, transient } from '../errors.ts'
import { parseRegistrableName } from '../names/parse-name.ts'
import type { Party } from '../platform/party.ts'
import { microsOf } from '../platform/times.ts'
import { told } from '../platform/told.ts'
import type { ContractId } from '../platform/values.ts'
import {
  callsUntil,
  isFor,
  isOfCall,
  NAME_PAYMENT_TIMEOUT_MS,
  ownEntry,
  POLL_MS,
  poll,
} from './own-names.ts'
import { withPayment } from './payment-state.ts'
import type { Journal, RegistrationParts } from './registration.ts'
import { uncertain } from './registration-steps.ts'
import type { AtOffset, CallOptions, Subscription } from './wallet.ts'

/** A renewed name. */
export type Renewal = {
  readonly name: string
  /** When the next payment is due. Until then the user owns the name. */
  readonly paidUntil: string
  /** When the payment of the next period becomes possible. */
  readonly renewableFrom: string
  /** All possible periods were paid before: nothing was paid now. */
  readonly wasPaid: boolean
}

/** Options of a renewal. */
export type RenewOptions = CallOptions & {
  /**
   * `expiresAt`, or `paidUntil`, at the time of the user's decision. If a later time is paid already, such as by an
   * earlier call, nothing is paid. So a second call can never pay for a further period.
   */
  readonly after?: string
  /** Called once the coin is locked. `isResumed`: an earlier call, or the wallet automatically, locked it. */
  readonly onProgress?: (event: { readonly step: 'paid'; readonly isResumed: boolean }) => void
}

/** A renewal, and the contract whose creation shows it. */
type Renewed = { readonly renewal: Renewal; readonly stateCid: ContractId; readonly party: Party }

/** The precision of times in lists. A period is much longer. */
const MICROS_PER_MS = 1000

/**
 * Pays for another period, inside the renewal window, and waits until a super-validator has collected the coin. Call it
 * again after a crash: it waits for a payment in progress. If no further period can be paid yet, the result has the time
 * until which the name is paid.
 *
 * @throws {QuorumscanError} CONTRACT_NOT_FOUND if the user has no subscription of that name, CHOICE_REFUSED after
 *   the entry expired, INVALID_NAME, PAYMENT_…; `payment` is always set.
 */
export async function renew(
  parts: RegistrationParts,
  typed: string,
  options: RenewOptions & { readonly journal: Journal },
): Promise<Renewed> {
  const { wallet, clock } = parts
  const { signal, journal } = options
  const onProgress = told(options.onProgress)
  const endsAtMs = clock.monotonicMs() + (options.timeoutMs ?? NAME_PAYMENT_TIMEOUT_MS)
  const call = callsUntil(parts, endsAtMs, signal)
  let isLocked = false
  let isUnknown = false

  const runRenewal = async (): Promise<Renewed> => {
    const name = parseRegistrableName(typed)
    const after = options.after === undefined ? null : microsOf(options.after)
    isUnknown = true // An earlier call may have paid.
    const { found: before, party } = await findSubscription(parts, name, call)
    isUnknown = false
    if (before === undefined || party === '') throw noSubscription(name)
    const done = (now: Subscription, wasPaid: boolean): Renewed => {
      const { opensAt, dueAt, stateCid } = windowOf(now)
      const renewableFrom = formatInstant(opensAt)
      return { renewal: { name, paidUntil: dueAt, renewableFrom, wasPaid }, stateCid, party }
    }
    const { dueAt: dueBefore, middle, stateCid, createdAt } = windowOf(before)
    isUnknown = true
    const left = await journal.open(party, dueBefore)
    isUnknown = left.includes(stateCid)
    const isLeft = isUnknown
    isLocked = 'payment' in before.state
    if (!isLocked && after !== null && microsOf(dueBefore) > after + MICROS_PER_MS)
      return done(before, true)
    if (isLocked) onProgress({ step: 'paid', isResumed: true })
    let cause: unknown
    /** Why this payment was refused. The wallet's automation or another device may have paid first. */
    let refusal: unknown
    /** Whether the answer of the last request was lost. */
    let mayRepeat = false
    /** @returns The failure of the request; null: it was answered, and the coin is locked. */
    const pay = async (): Promise<QuorumscanError | null> => {
      await journal.beforeSend(stateCid)
      try {
        // The state, so that neither a repeat nor a request that arrives late pays for a further period.
        await wallet.paySubscription(stateCid, call())
        isLocked = true
        isUnknown = false
        onProgress({ step: 'paid', isResumed: false })
        return null
      } catch (error) {
        isUnknown = true
        if (!isOfCall(error, signal)) throw error
        mayRepeat = !error.definite
        return error
      }
    }
    if (!isLocked) {
      const error = await pay()
      cause = error
      if (error !== null && !mayRepeat) refusal = error
    }
    const next = async (now: Subscription): Promise<Renewed | null> => {
      const current = windowOf(now)
      // An older state than the first one: each payment, and each return of its coin, makes a contract.
      if (current.createdAt < createdAt) return null
      if ('payment' in now.state) {
        isLocked = true
        isUnknown = false
        return null
      }
      if (current.dueAt !== dueBefore) return done(now, false)
      // What was to be paid with has ended, so that no request can pay any more.
      if (current.stateCid !== stateCid) {
        isUnknown = false
        const message = `The coin for ${name} was returned in full: the lock expired before a super-validator collected it.`
        throw transient('PAYMENT_REFUNDED', message, { payment: 'refunded' })
      }
      // It was paid with: an older state.
      if (!isUnknown) return null
      if (refusal !== undefined) {
        // The refusal says nothing of an earlier payment, which may still arrive.
        isUnknown = isLeft
        const opensAt = isQuorumscanError(refusal) ? refusal.details?.['windowOpensAt'] : undefined
        // The window has not opened. No clock is wrong by half of it.
        if (opensAt !== undefined && clock.nowMicros() < middle) return done(now, true)
        throw refusal
      }
      // Refused now, the first request may still arrive.
      if (mayRepeat) cause = (await pay()) ?? cause
      return null
    }
    const late = () => notYet(name, isUnknown, cause)
    return poll(() => ownSubscription(parts, name, call), next, { clock, signal, endsAtMs, late })
  }

  try {
    return await runRenewal()
  } catch (error) {
    throw withPayment(error, isUnknown ? 'unknown' : isLocked ? 'locked' : 'not-paid')
  }
}

/**
 * Ends the subscription permanently. The name remains until it expires. A payment in progress is waited for. If the
 * subscription has ended and the user still owns the name, nothing happens.
 *
 * @throws {QuorumscanError} CONTRACT_NOT_FOUND if the user does not own the name.
 */
export async function cancel(
  parts: RegistrationParts,
  typed: string,
  options: CallOptions = {},
): Promise<AtOffset> {
  const name = parseRegistrableName(typed)
  const { wallet, clock, http } = parts
  const { signal } = options
  const endsAtMs = clock.monotonicMs() + (options.timeoutMs ?? NAME_PAYMENT_TIMEOUT_MS)
  const call = callsUntil(parts, endsAtMs, signal)
  for (;;) {
    const { found, party } = await findSubscription(parts, name, call)
    if (found === undefined) {
      if ((await ownEntry(parts.names, { name, party }, call)) === null) throw noSubscription(name)
      return { offset: http.offset() }
    }
    const { state } = found
    if ('idle' in state) return wallet.cancelSubscription(state.idle.contractId, call())
    if (clock.monotonicMs() >= endsAtMs) {
      const message = `A payment for ${name} is in progress. Cancel again after it is decided.`
      throw transient('PAYMENT_PENDING', message)
    }
    await clock.delay(POLL_MS, signal)
  }
}

/**
 * Sets whether the wallet pays renewals of the name automatically.
 *
 * @throws {QuorumscanError} CONTRACT_NOT_FOUND if the user has no subscription of that name.
 */
export async function setAutoRenew(
  parts: RegistrationParts,
  typed: string,
  { isEnabled, ...options }: CallOptions & { readonly isEnabled: boolean },
): Promise<AtOffset> {
  const name = parseRegistrableName(typed)
  const endsAtMs = parts.clock.monotonicMs() + (options.timeoutMs ?? parts.timeoutMs)
  const call = callsUntil(parts, endsAtMs, options.signal)
  const { subscription } = await ownSubscription(parts, name, call)
  return parts.wallet.setAutoRenew(subscription.contractId, isEnabled, call())
}

async function ownSubscription(parts: RegistrationParts, name: string, call: () => CallOptions) {
  const { found } = await findSubscription(parts, name, call)
  if (found !== undefined) return found
  throw noSubscription(name)
}

async function findSubscription(
  { wallet }: RegistrationParts,
  name: string,
  call: () => CallOptions,
): Promise<{ readonly found: Subscription | undefined; readonly party: Party | '' }> {
  const { partyId: party } = await wallet.status(call())
  const all = await wallet.subscriptions(call())
  if (party === '') return { found: undefined, party }
  return { found: all.find(({ subscription }) => isFor(subscription, { name, party })), party }
}

function noSubscription(name: string): QuorumscanError {
  return failure('CONTRACT_NOT_FOUND', `The user has no subscription for ${name}.`)
}

/** When the next payment, or the one in progress, is due, its window in µs, and when its contract was created, in µs. */
function windowOf({ state }: Subscription) {
  const contract = 'idle' in state ? state.idle : state.payment
  const { payload, contractId: stateCid } = contract
  const dueAt = String(payload['idle' in state ? 'nextPaymentDueAt' : 'thisPaymentDueAt'])
  const { microseconds } = membersOf(membersOf(payload['payData'])['paymentDuration'])
  const duration = Number(microseconds ?? 0)
  const due = microsOf(dueAt)
  const createdAt = microsOf(contract.createdAt)
  return { dueAt, opensAt: due - duration, middle: due - duration / 2, stateCid, createdAt }
}

function notYet(name: string, isUnknown: boolean, cause: unknown): QuorumscanError {
  const message = isUnknown
    ? `It is unknown whether the coin for ${name} was locked. Call renew again: it checks first.`
    : `The coin for ${name} is locked, and no super-validator has collected it yet. Call renew again to continue waiting.`
  return uncertain(isUnknown ? 'PAYMENT_UNKNOWN' : 'PAYMENT_PENDING', message, cause)
}
