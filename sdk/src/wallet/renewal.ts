/** What becomes of a name that one has: paying for it again, or letting it lapse. */
import { formatInstant } from '@quorumscan/verifier'
import { failure, isQuorumscanError, passing, type QuorumscanError } from '../errors.ts'
import { parseRegistrableName } from '../names/parse-name.ts'
import { microsOf } from '../platform/time.ts'
import { callsUntil, isCertain, isFor, isGone, ownEntry, withPayment } from './own-names.ts'
import type { RegistrationParts } from './registration.ts'
import type { AtOffset, CallOptions, Subscription } from './wallet.ts'

/** A name that is paid for another period. */
export type Renewal = {
  readonly name: string
  /** When the next payment is due: until then the name is the user's. */
  readonly paidUntil: string
  /** From when on the period after that can be paid. */
  readonly renewableFrom: string
  /** All that can be paid was paid before: nothing was paid now. */
  readonly wasPaid: boolean
}

/** How to go through a renewal. */
export type RenewOptions = CallOptions & {
  /**
   * `expiresAt`, or `paidUntil`, as it was when the user decided. If more is paid by now, by an earlier call for one,
   * nothing is paid: so a second call can never pay for the period after.
   */
  readonly after?: string
  /** Told once the coin is locked. `isResumed`: an earlier call, or the wallet by itself, did that. */
  readonly onProgress?: (event: { readonly step: 'paid'; readonly isResumed: boolean }) => void
}

const TIMEOUT_MS = 120_000
const POLL_MS = 300
/** What lists tell of times; a period is longer by far. */
const MICROS_PER_MS = 1000

/**
 * Pays for another period, inside the renewal window, and waits until a super-validator took the coin. Call it again
 * after a crash: a payment that is under way is waited for, and where no further period can be paid yet, the result
 * says until when the name is paid.
 *
 * @throws {QuorumscanError} CONTRACT_NOT_FOUND if the user has no subscription of that name, CHOICE_REFUSED after
 *   the entry expired, INVALID_NAME, PAYMENT_…; `payment` is always set.
 */
export async function renew(
  parts: RegistrationParts,
  typed: string,
  options: RenewOptions = {},
): Promise<Renewal> {
  const { wallet, clock } = parts
  const { signal, onProgress = () => {} } = options
  const endsAtMs = clock.monotonicMs() + (options.timeoutMs ?? TIMEOUT_MS)
  const call = callsUntil(parts, endsAtMs, signal)
  let isLocked = false
  let isUnknown = false

  const walk = async (): Promise<Renewal> => {
    const name = parseRegistrableName(typed)
    const after = options.after === undefined ? null : microsOf(options.after)
    const before = await ownSubscription(parts, name, call).catch((error) => {
      // An earlier call may have paid: nothing is known where nobody could look.
      isUnknown = !isGone(error)
      throw error
    })
    const done = (now: Subscription, wasPaid: boolean): Renewal => {
      const { opensAt, dueAt } = windowOf(now)
      return { name, paidUntil: dueAt, renewableFrom: formatInstant(opensAt), wasPaid }
    }
    const { dueAt: dueBefore, middle } = windowOf(before)
    isLocked = 'payment' in before.state
    if (!isLocked && after !== null && microsOf(dueBefore) > after + MICROS_PER_MS)
      return done(before, true)
    if (isLocked) onProgress({ step: 'paid', isResumed: true })
    let cause: unknown
    /** Of our payment: certain, but the wallet's automation or another device may have been first. */
    let refusal: unknown
    if (!isLocked)
      try {
        await wallet.paySubscription(before.subscription.contractId, call())
        isLocked = true
        onProgress({ step: 'paid', isResumed: false })
      } catch (error) {
        if (signal?.aborted === true || !isQuorumscanError(error)) throw error
        if (isCertain(error, signal)) refusal = error
        // A second payment could be one for the period after; so the ledger is asked, not the wallet.
        isUnknown = true
        cause = error
      }
    for (;;) {
      const now = await ownSubscription(parts, name, call).catch(unlessPassing)
      if (now !== null) {
        if ('payment' in now.state) [isLocked, isUnknown] = [true, false]
        else if (windowOf(now).dueAt !== dueBefore) return done(now, false)
        else if (isUnknown && refusal !== undefined) {
          isUnknown = false
          // Refused for the window, which nobody's clock misses by half of it: it has not opened.
          if (isOutsideWindow(refusal) && clock.nowMicros() < middle) return done(now, true)
          throw refusal
        } else if (!isUnknown)
          throw passing(
            'PAYMENT_REFUNDED',
            `The coin for ${name} came back in full: the lock ended before a super-validator took it.`,
            { payment: 'refunded' },
          )
      }
      if (clock.monotonicMs() >= endsAtMs) throw notYet(name, { isUnknown, cause })
      await clock.delay(POLL_MS, signal)
    }
  }

  try {
    return await walk()
  } catch (error) {
    throw withPayment(error, isUnknown ? 'unknown' : isLocked ? 'locked' : 'not-paid')
  }
}

/**
 * Ends the subscription, for good: the name stays until it expires. A payment that is under way is waited for. Where
 * the subscription of a name that is still the user's has ended, there is nothing to do.
 *
 * @throws {QuorumscanError} CONTRACT_NOT_FOUND if the name is not the user's.
 */
export async function cancel(
  parts: RegistrationParts,
  typed: string,
  options: CallOptions = {},
): Promise<AtOffset> {
  const name = parseRegistrableName(typed)
  const { wallet, clock, http } = parts
  const { signal } = options
  const endsAtMs = clock.monotonicMs() + (options.timeoutMs ?? TIMEOUT_MS)
  const call = callsUntil(parts, endsAtMs, signal)
  for (;;) {
    const { found, party } = await findSubscription(parts, name, call)
    if (found === undefined) {
      if ((await ownEntry(parts.names, { name, party }, call)) === null) throw noSubscription(name)
      return { offset: http.offset() }
    }
    const { state } = found
    if ('idle' in state) return wallet.cancelSubscription(state.idle.contractId, call())
    if (clock.monotonicMs() >= endsAtMs)
      throw passing(
        'PAYMENT_PENDING',
        `A payment for ${name} is under way; it can be cancelled when that is decided.`,
      )
    await clock.delay(POLL_MS, signal)
  }
}

/**
 * Whether the wallet pays renewals of the name by itself.
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

async function ownSubscription(
  parts: RegistrationParts,
  name: string,
  call: () => CallOptions,
): Promise<Subscription> {
  const { found } = await findSubscription(parts, name, call)
  if (found !== undefined) return found
  throw noSubscription(name)
}

async function findSubscription(
  { wallet }: RegistrationParts,
  name: string,
  call: () => CallOptions,
): Promise<{ readonly found: Subscription | undefined; readonly party: string }> {
  const { partyId: party } = await wallet.status(call())
  const all = await wallet.subscriptions(call())
  return { found: all.find(({ subscription }) => isFor(subscription, { name, party })), party }
}

function noSubscription(name: string): QuorumscanError {
  return failure('CONTRACT_NOT_FOUND', `The user has no subscription for ${name}.`)
}

/** What may pass is waited out: a payment is under way, and nothing is asked twice that could pay twice. */
function unlessPassing(error: unknown): null {
  if (!isQuorumscanError(error) || !error.retryable) throw error
  return null
}

/** When the next payment is due, or that which is under way; and the window for it, in µs. */
function windowOf({ state }: Subscription): Window {
  const { payload } = 'idle' in state ? state.idle : state.payment
  const dueAt = String(payload['idle' in state ? 'nextPaymentDueAt' : 'thisPaymentDueAt'])
  const { paymentDuration } = Object(payload['payData'])
  const duration = Number(Object(paymentDuration).microseconds ?? 0)
  const due = microsOf(dueAt)
  return { dueAt, opensAt: due - duration, middle: due - duration / 2 }
}

type Window = { readonly dueAt: string; readonly opensAt: number; readonly middle: number }

function isOutsideWindow(refusal: unknown): boolean {
  return isQuorumscanError(refusal) && refusal.details?.['windowOpensAt'] !== undefined
}

function notYet(
  name: string,
  facts: { readonly isUnknown: boolean; readonly cause: unknown },
): QuorumscanError {
  const { isUnknown, cause } = facts
  return isUnknown
    ? failure(
        'PAYMENT_UNKNOWN',
        `Whether the coin for ${name} was locked could not be found out. Call renew again: it looks first.`,
        { definite: false, retryable: true, cause },
      )
    : failure(
        'PAYMENT_PENDING',
        `The coin for ${name} is locked, and no super-validator has taken it yet. Call renew again to go on waiting.`,
        { definite: false, retryable: true },
      )
}
