/**
 * The state of a registration, and the next call. Pure: `registration.ts` makes the calls.
 *
 * A name is requested, the request is chosen and paid, the payment is confirmed, and the nodes show the name. Each task
 * ends with one event. A lost answer is never treated as a refusal: the ledger is read until it shows the result.
 * A payment consumes its request, so that a repeated payment of one request cannot pay twice. A second request is made
 * only while no coin can be locked.
 */
import {
  type ErrorCode,
  failure,
  type PaymentState,
  passing,
  type QuorumscanError,
} from '../errors.ts'
import type { NameEntry } from '../names/lookups.ts'
import type { ContractId } from '../platform/values.ts'

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
  | { readonly step: 'active'; readonly party: string; readonly isResumed: boolean }

/** What exists of the registration. */
export type Found =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'requested'; readonly requestCids: readonly ContractId[] }
  | { readonly kind: 'paid'; readonly paymentCid: ContractId; readonly requestCid: string }
  | { readonly kind: 'owned' }

export type Task =
  /** → `found` */
  | { readonly kind: 'look' }
  /** The nodes may show the user as owner of a name that the wallet does not list. → `found` */
  | { readonly kind: 'ask' }
  /** → `requested` */
  | { readonly kind: 'request' }
  /** Rejects requests with another entry. → `chosen` */
  | { readonly kind: 'choose'; readonly requestCids: readonly ContractId[] }
  /** → `paid` */
  | { readonly kind: 'pay'; readonly requestCid: ContractId }
  /** Fails if an earlier call paid for another entry. → `compared` */
  | { readonly kind: 'compare'; readonly requestCid: string; readonly paymentCid: ContractId }
  /** → `decided` */
  | { readonly kind: 'confirm'; readonly paymentCid: ContractId }
  /** → `resolved` */
  | { readonly kind: 'resolve' }
  /** The last one. */
  | { readonly kind: 'finish'; readonly entry: NameEntry }
  | { readonly kind: 'fail'; readonly error: unknown }

export type Event =
  | { readonly kind: 'found'; readonly found: Found }
  | { readonly kind: 'requested'; readonly requestCid: ContractId }
  /** null: no request has the same entry. */
  | { readonly kind: 'chosen'; readonly requestCid: ContractId | null }
  | { readonly kind: 'paid'; readonly paymentCid: ContractId }
  | { readonly kind: 'compared' }
  /** null: the payment is still locked. */
  | { readonly kind: 'decided'; readonly isOurs: boolean | null }
  /** null: the nodes do not show the user as owner yet. */
  | { readonly kind: 'resolved'; readonly entry: NameEntry | null }
  | {
      readonly kind: 'failed'
      readonly error: unknown
      /** It certainly had no effect. */
      readonly isCertain: boolean
      /** The request is consumed. */
      readonly isGone: boolean
      /** A second try may succeed. */
      readonly isPassing: boolean
    }

export type State = {
  readonly task: Task
  /** Whether a pause comes before the task. */
  readonly isPaused: boolean
  /** Reported before the task. */
  readonly progress: RegisterProgress | null
  /** The state of the payment, for errors. */
  readonly payment: PaymentState
  /** What the first look found; null: before it. */
  readonly wasThere: Found['kind'] | null
  /** Whether the request existed before this call. */
  readonly isResumed: boolean
  /** Set while the ledger is read for the result of a request or payment without an answer. */
  readonly lost: Lost | null
}

type Lost = {
  readonly error: unknown
  /** Of the payment; null: the answer to a request is missing. */
  readonly requestCid: ContractId | null
  readonly mayRepeat: boolean
  readonly untilMs: number
}

export type World = {
  readonly name: string
  /** By the monotonic clock. */
  readonly nowMs: number
  readonly endsAtMs: number
}

const LOOK: Task = { kind: 'look' }

export const BEGUN: State = {
  task: LOOK,
  isPaused: false,
  progress: null,
  payment: 'unknown', // An earlier call may have paid.
  wasThere: null,
  isResumed: false,
  lost: null,
}

/** What follows from an event. */
export function step(before: State, event: Event, world: World): State {
  const state: State = { ...before, isPaused: false, progress: null }
  switch (event.kind) {
    case 'found':
      return afterLook(state, event.found, world)
    case 'requested':
      return { ...state, task: { kind: 'choose', requestCids: [event.requestCid] } }
    case 'chosen': {
      const { requestCid } = event
      if (requestCid === null) return { ...state, task: LOOK }
      const { isResumed } = state
      const progress = { step: 'requested', subscriptionRequestCid: requestCid, isResumed } as const
      return { ...state, task: { kind: 'pay', requestCid }, progress }
    }
    case 'paid':
      return locked(state, event.paymentCid)
    case 'compared':
      return state.task.kind === 'compare' ? locked(state, state.task.paymentCid) : state
    case 'decided':
      if (event.isOurs === null) return again(state, world)
      if (event.isOurs) return entered(state, { kind: 'owned' })
      return refunded(state, returned(world.name))
    case 'resolved':
      if (event.entry === null) return again(state, world)
      return { ...state, task: { kind: 'finish', entry: event.entry } }
    case 'failed':
      return afterFailure(state, event, world)
  }
}

function afterLook(state: State, found: Found, world: World): State {
  const { lost } = state
  if (state.wasThere === null) {
    const known: State = { ...state, payment: 'not-paid' }
    if (found.kind === 'nothing' && state.task.kind === 'look')
      return { ...known, task: { kind: 'ask' } }
    return entered({ ...known, wasThere: found.kind }, found)
  }
  if (lost === null || found.kind === 'paid' || found.kind === 'owned') return entered(state, found)
  if (lost.requestCid === null)
    return found.kind === 'nothing' ? again(state, world) : entered(state, found)
  if (found.kind === 'requested' && found.requestCids.includes(lost.requestCid))
    return lost.mayRepeat
      ? { ...state, task: { kind: 'pay', requestCid: lost.requestCid } }
      : again(state, world)
  // The request is consumed, and no payment exists.
  if (state.payment === 'not-paid') return failed(state, lost.error)
  return refunded(state, consumed(world.name), lost.error)
}

/** Continues from what exists. */
function entered(before: State, found: Found): State {
  const state: State = { ...before, lost: null }
  switch (found.kind) {
    case 'nothing':
      return { ...state, isResumed: false, task: { kind: 'request' } }
    case 'requested':
      return {
        ...state,
        isResumed: before.lost === null,
        task: { kind: 'choose', requestCids: found.requestCids },
      }
    case 'paid': {
      const { paymentCid, requestCid } = found
      if (state.wasThere !== 'paid') return locked(state, paymentCid)
      return { ...state, payment: 'locked', task: { kind: 'compare', requestCid, paymentCid } }
    }
    case 'owned':
      return { ...state, payment: 'paid', task: { kind: 'resolve' } }
  }
}

function locked(state: State, paymentCid: ContractId): State {
  const progress = { step: 'paid', paymentCid, isResumed: state.wasThere === 'paid' } as const
  const task: Task = { kind: 'confirm', paymentCid }
  return { ...state, lost: null, payment: 'locked', task, progress }
}

function afterFailure(
  state: State,
  failure: Extract<Event, { readonly kind: 'failed' }>,
  world: World,
): State {
  const { task, lost } = state
  const { error, isCertain, isGone, isPassing } = failure
  if (task.kind === 'request' && !isCertain) {
    // A second request costs nothing, but would remain on the ledger.
    const untilMs = Math.min(world.endsAtMs, world.nowMs + APPEAR_MS)
    return { ...state, task: LOOK, lost: { error, requestCid: null, mayRepeat: false, untilMs } }
  }
  if (task.kind === 'pay' && lost === null && (!isCertain || isGone)) {
    const { requestCid } = task
    const payment = isCertain ? state.payment : 'unknown'
    const { endsAtMs: untilMs } = world
    const mayRepeat = !isGone
    return { ...state, task: LOOK, payment, lost: { error, requestCid, mayRepeat, untilMs } }
  }
  // Refused now; the first payment may still arrive.
  if (task.kind === 'pay' && lost !== null && isCertain)
    return again({ ...state, lost: { ...lost, mayRepeat: false } }, world)
  const isPolled = lost !== null || task.kind === 'confirm' || task.kind === 'resolve'
  return isPolled && isPassing ? again(state, world) : failed(state, error)
}

/** Repeats the task after a pause, as long as there is time. */
function again(state: State, { name, nowMs, endsAtMs }: World): State {
  const { lost } = state
  const task = lost === null ? state.task : LOOK
  if (nowMs < (lost?.untilMs ?? endsAtMs)) return { ...state, task, isPaused: true }
  if (lost !== null) {
    const { requestCid, error } = lost
    const isPayment = requestCid !== null
    return failed(state, isPayment ? doubtful('PAYMENT_UNKNOWN', unknown(name), error) : error)
  }
  return failed(
    state,
    task.kind === 'confirm'
      ? doubtful('PAYMENT_PENDING', pending(name))
      : doubtful('CONSENSUS_LAGGING', notShown(name)),
  )
}

function failed(state: State, error: unknown): State {
  return { ...state, task: { kind: 'fail', error } }
}

/** The coin was locked, and returned in full. */
function refunded(state: State, message: string, cause?: unknown): State {
  const error = passing('PAYMENT_REFUNDED', message, { cause })
  return failed({ ...state, payment: 'refunded' }, error)
}

function doubtful(code: ErrorCode, message: string, cause?: unknown): QuorumscanError {
  return failure(code, message, { definite: false, retryable: true, cause })
}

const consumed = (name: string) =>
  `The request for ${name} is consumed, and no coin is locked: the payment was returned in full, or never happened.`
const returned = (name: string) =>
  `The coin for ${name} was returned in full: another user was first, or the lock expired before enough super-validators confirmed.`
const unknown = (name: string) =>
  `It is unknown whether the coin for ${name} was locked. Call register again: it checks first and never pays twice for one request.`
const pending = (name: string) =>
  `The coin for ${name} is locked, and the super-validators have not decided yet. Call register again to continue waiting.`
const notShown = (name: string) =>
  `${name} is registered, but not enough scan nodes show it yet. It needs no second call.`
