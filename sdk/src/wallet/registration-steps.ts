/**
 * The steps of a registration, and what follows from failures. `registration.ts` makes the calls.
 *
 * A name is requested, the request is chosen and paid, the payment is confirmed, and the nodes show the name. A lost
 * answer is never treated as a refusal: the ledger is read until it shows the result. A payment consumes its request, so
 * that a repeated payment of one request cannot pay twice. A second request is made only while no coin can be locked.
 */
import { type ErrorCode, failure, type PaymentState, transient } from '../errors.ts'
import type { NameEntry } from '../names/lookup-types.ts'
import type { Party } from '../platform/party.ts'
import type { ContractId } from '../platform/values.ts'
import { ignoreTransient, isConsumed, isOfCall, type PollBounds, poll } from './own-names.ts'

/** How long a request whose answer was lost may take to appear on the ledger. */
const APPEAR_MS = 5000

/** A completed step. `isResumed`: an earlier call had completed it. */
export type RegisterProgress =
  /** The name is requested; nothing is paid. */
  | {
      readonly step: 'requested'
      readonly subscriptionRequestCid: ContractId
      readonly isResumed: boolean
    }
  /** The coin is locked. Either the name is registered, or all of the coin is returned. */
  | { readonly step: 'paid'; readonly paymentCid: ContractId; readonly isResumed: boolean }
  /** The coin is spent, and enough scan nodes show that the user owns the name. */
  | { readonly step: 'active'; readonly party: Party; readonly isResumed: boolean }

/** The payment exists, and is not decided. */
type Paid = { readonly kind: 'paid'; readonly paymentCid: ContractId; readonly requestCid: string }
/** What exists of the registration. */
export type Found =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'requested'; readonly requestCids: readonly ContractId[] }
  | Paid
  | { readonly kind: 'owned' }

/** The calls of the steps. */
export type Calls = {
  readState(): Promise<Found>
  /** The nodes may show the user as owner of a name that the wallet does not list. */
  isShown(): Promise<boolean>
  request(): Promise<ContractId>
  /** Rejects requests with another entry. null: no request has the same entry. */
  choose(requestCids: readonly ContractId[]): Promise<ContractId | null>
  /** Returns the payment. */
  pay(requestCid: ContractId): Promise<ContractId>
  /** Rejects the request, so that no payment can consume it. It may be consumed already. */
  reject(requestCid: ContractId): Promise<void>
  /** Fails if an earlier call paid for another entry. */
  compare(requestCid: string): Promise<void>
  /** Whether the user owns the name; null: the payment is still locked. */
  confirm(paymentCid: ContractId): Promise<boolean | null>
  /** null: the nodes do not show the user as owner yet. */
  resolve(): Promise<NameEntry | null>
}

type StepContext = PollBounds & {
  readonly name: string
  readonly onProgress: (event: RegisterProgress) => void
  /** Called before each change of what errors report. It starts with `unknown`: an earlier call may have paid. */
  readonly onPayment: (payment: PaymentState) => void
}

/** Continues from what exists until the nodes show the name. */
export async function runSteps(
  calls: Calls,
  context: StepContext,
): Promise<{ readonly entry: NameEntry; readonly wasOwned: boolean }> {
  const { name, onProgress, onPayment } = context
  const first = await calls.readState()
  // Another call may have sent a payment of a request that it left.
  const left = first.kind === 'requested' ? first.requestCids : []
  onPayment(left.length === 0 ? 'not-paid' : 'unknown')
  const isOwned = first.kind === 'nothing' && (await calls.isShown())
  let found: Found = isOwned ? { kind: 'owned' } : first
  const initialKind = found.kind
  let isResumed = true
  while (found.kind === 'nothing' || found.kind === 'requested') {
    if (found.kind === 'nothing') {
      isResumed = false
      found = await request(calls, context)
      continue
    }
    const requestCid = await calls.choose(found.requestCids)
    if (requestCid === null) {
      isResumed = true
      found = await calls.readState()
      if (found.kind === 'nothing') onPayment('not-paid')
      continue
    }
    onProgress({ step: 'requested', subscriptionRequestCid: requestCid, isResumed })
    found = await pay(calls, context, { requestCid, isLeft: left.includes(requestCid) })
  }
  if (found.kind === 'paid') await awaitDecision(calls, context, found, initialKind === 'paid')
  onPayment('paid')
  const notShown = `${name} is registered, but not enough scan nodes show it yet. It needs no second call.`
  const late = () => uncertain('CONSENSUS_LAGGING', notShown)
  const entry = await poll(calls.resolve, (entry) => entry, { ...context, late })
  return { entry, wasOwned: initialKind === 'owned' }
}

async function request(calls: Calls, context: StepContext): Promise<Found> {
  const { clock, signal } = context
  try {
    return { kind: 'requested', requestCids: [await calls.request()] }
  } catch (error) {
    if (!isOfCall(error, signal) || error.definite) throw error
    // A second request costs nothing, but would remain on the ledger.
    const endsAtMs = Math.min(context.endsAtMs, clock.monotonicMs() + APPEAR_MS)
    const bounds = { ...context, endsAtMs, late: () => error }
    return poll(calls.readState, (found) => (found.kind === 'nothing' ? null : found), bounds)
  }
}

/** @param asked.isLeft - Another call requested it, and may have sent a payment. */
async function pay(
  calls: Calls,
  context: StepContext,
  asked: { readonly requestCid: ContractId; readonly isLeft: boolean },
): Promise<Found> {
  const { requestCid, isLeft } = asked
  const { name, signal, onPayment } = context
  const attempt = async (): Promise<Found> => {
    return { kind: 'paid', paymentCid: await calls.pay(requestCid), requestCid }
  }
  try {
    return await attempt()
  } catch (cause) {
    if (!isOfCall(cause, signal)) {
      onPayment('unknown') // It may have been sent.
      throw cause
    }
    const wasCertain = cause.definite
    let mayRepeat = !isConsumed(cause)
    if (wasCertain && mayRepeat) {
      // The refusal says nothing of another payment. None can consume a rejected request.
      if (isLeft) await calls.reject(requestCid)
      const isOpen = isLeft && (await calls.readState()).kind !== 'nothing'
      if (!isOpen) {
        onPayment('not-paid')
        throw cause
      }
      mayRepeat = false
    }
    if (!wasCertain) onPayment('unknown')
    const next = async (found: Found): Promise<Found | null> => {
      if (found.kind === 'paid' || found.kind === 'owned') return found
      if (found.kind === 'nothing' || !found.requestCids.includes(requestCid)) {
        // The request is consumed, and no payment exists.
        if (wasCertain && !isLeft) throw cause
        onPayment('refunded')
        const consumed = `The request for ${name} is consumed, and no coin is locked: the payment was returned in full, or never happened.`
        throw transient('PAYMENT_REFUNDED', consumed, { cause })
      }
      if (!mayRepeat) return null
      return attempt().catch((error: unknown) => {
        if (!isOfCall(error, signal)) throw error
        if (!error.definite) return ignoreTransient(error)
        mayRepeat = false // Refused now; the first payment may still arrive.
        return null
      })
    }
    const unknown = `It is unknown whether the coin for ${name} was locked. Call register again: it checks first and never pays twice for one request.`
    const late = () => uncertain('PAYMENT_UNKNOWN', unknown, cause)
    return poll(calls.readState, next, { ...context, late })
  }
}

/** Waits until the payment is decided. */
async function awaitDecision(
  calls: Calls,
  context: StepContext,
  { paymentCid, requestCid }: Paid,
  isResumed: boolean,
): Promise<void> {
  const { name, onProgress, onPayment } = context
  onPayment('locked')
  if (isResumed) await calls.compare(requestCid)
  onProgress({ step: 'paid', paymentCid, isResumed })
  const confirm = () => calls.confirm(paymentCid)
  const pending = `The coin for ${name} is locked, and the super-validators have not decided yet. Call register again to continue waiting.`
  const late = () => uncertain('PAYMENT_PENDING', pending)
  if (await poll(confirm, (isDefect) => isDefect, { ...context, late })) return
  onPayment('refunded')
  const returned = `The coin for ${name} was returned in full: another user was first, or the lock expired before enough super-validators confirmed.`
  throw transient('PAYMENT_REFUNDED', returned)
}

/** The error of a payment whose effect is not known, or not visible yet. */
export function uncertain(code: ErrorCode, message: string, cause?: unknown) {
  return failure(code, message, { definite: false, retryable: true, cause })
}
