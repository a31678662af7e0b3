/**
 * Registrations and renewals as payments (D-84). Each request that pays consumes one contract, so that the ledger shows
 * what became of it: the request of a registration, or the idle state of a renewed subscription.
 */
import { formatInstant, membersOf } from '@quorumscan/verifier'
import { failure, isQuorumscanError } from '../errors.ts'
import type { NameEntry } from '../names/lookup-types.ts'
import type { Clock } from '../platform/clock.ts'
import type { Party } from '../platform/party.ts'
import { microsOf } from '../platform/times.ts'
import type { ContractId } from '../platform/values.ts'
import { assertSettle } from './call-checks.ts'
import { callsUntil, isFor, NAME_PAYMENT_TIMEOUT_MS } from './own-names.ts'
import type { PaymentResult, SettleOptions } from './payment-result.ts'
import { findCreation, findEnd } from './payment-search.ts'
import { isUnpaid, unknownPayment, withPayment } from './payment-state.ts'
import type { PaymentStore, StoredPayment } from './payment-store.ts'
import {
  checkedRegistration,
  type Journal,
  type RegisterInput,
  type RegisterOptions,
  type Registration,
  type RegistrationParts,
  register,
} from './registration.ts'
import { type Renewal, type RenewOptions, renew } from './renewal.ts'

/** Where the ledger shows a registration or renewal. */
type Position = {
  readonly updateId: string | null
  readonly offset: number
  readonly recordTime: string | null
}

/** What the ledger has of the requests of a payment. */
type Found =
  | {
      readonly kind: 'collected'
      readonly position: Position
      readonly created: readonly Readonly<Record<string, unknown>>[]
    }
  /** `open`: contracts that a payment may still consume. */
  | { readonly kind: 'undecided'; readonly isLocked: boolean; readonly open: readonly string[] }
  /** Each one ended without a payment, or its coin was returned. */
  | { readonly kind: 'ended'; readonly wasReturned: boolean }

const PAYS = ['SubscriptionRequest_AcceptAndMakePayment', 'SubscriptionIdleState_MakePayment']
const COLLECTS = ['SubscriptionInitialPayment_Collect', 'SubscriptionPayment_Collect']

type Done<T> = Extract<PaymentResult<T>, { kind: 'done' }>
/** What was requested, and how its calls are made. */
type Work<T> = {
  /** @param period - The due date that a renewal pays for. */
  row(period: string | undefined): Pick<StoredPayment, 'id' | 'kind' | 'body'>
  run(journal: Journal): Promise<{ result: T; contractId: ContractId | null; party: Party }>
}

/** @internal Only `createPayments` calls it. */
export function createNamePayments(
  parts: RegistrationParts & {
    readonly clock: Clock
    readonly store: PaymentStore
    /** @throws {QuorumscanError} OFFLINE. */
    readonly assertOnline: () => void
    /** Marks a payment as one that a call of this client makes now, until the returned function is called. */
    readonly markRunning: (payment: StoredPayment) => () => void
  },
) {
  const { http, names, wallet, clock, store, assertOnline, markRunning } = parts

  /**
   * @throws {QuorumscanError} If a contract cannot be found: the validator has not read the log so far, or has pruned it.
   */
  const follow = async (payment: StoredPayment, signal?: AbortSignal): Promise<Found> => {
    const { party, consumes = [] } = payment
    const open: string[] = []
    let isLocked = false
    let wasReturned = false
    for (const contractId of consumes) {
      const end = await findEnd(http, { party, contractId, signal })
      if (end === null) open.push(contractId)
      if (end === null || !PAYS.includes(end.choice)) continue
      const paid = await findEnd(http, {
        party,
        contractId: String(end.result['paymentCid']),
        signal,
      })
      if (paid === null) isLocked = true
      else if (!COLLECTS.includes(paid.choice)) wasReturned = true
      else {
        const { updateId, offset, recordTime, events } = paid.transaction
        const created = events.flatMap((event) =>
          'CreatedEvent' in event
            ? [
                {
                  ...membersOf(event.CreatedEvent.createArgument),
                  contractId: event.CreatedEvent.contractId,
                },
              ]
            : [],
        )
        return { kind: 'collected', position: { updateId, offset, recordTime }, created }
      }
    }
    return isLocked || open.length > 0
      ? { kind: 'undecided', isLocked, open }
      : { kind: 'ended', wasReturned }
  }

  /** Where the contract was created. No update id: the ledger interface does not show it any more. */
  const positionOf = async (
    party: string,
    contractId: ContractId | null,
    signal?: AbortSignal | undefined,
  ): Promise<Position> => {
    const hidden = { updateId: null, offset: http.offset(), recordTime: null }
    if (contractId === null) return hidden
    try {
      const made = await findCreation(http, { party, contractId, signal })
      if (made === null) return hidden
      const { updateId, offset, recordTime } = made
      return { updateId, offset, recordTime }
    } catch (error) {
      if (!isQuorumscanError(error) || error.retryable) throw error
      return hidden
    }
  }

  /** A store that fails keeps a settled payment, which settles again. */
  const forget = (payment: StoredPayment, signal: AbortSignal | undefined) =>
    store.remove(payment, signal).catch(() => {})

  const unknown = <T>(
    payment: StoredPayment,
    cause: unknown,
    signal?: AbortSignal,
  ): PaymentResult<T> => ({
    kind: 'unknown',
    error: unknownPayment(cause, signal),
    settle: (options) => settle(payment, options),
  })

  /** Makes the calls, and judges their failure by what is stored and what the ledger has. */
  const run = async <T>(
    work: Work<T>,
    options: { readonly signal?: AbortSignal | undefined; readonly stored?: StoredPayment },
  ): Promise<PaymentResult<T>> => {
    const { signal } = options
    let stored = options.stored ?? null
    /** As it would be stored: its party is known once the first read succeeds. */
    let payment = stored
    let endRunning = () => {}
    const journal: Journal = {
      async open(party, period) {
        if (payment !== null && payment.party !== party)
          throw failure('PERMISSION_DENIED', 'The token is of another user than the payment.')
        const startedAt = formatInstant(clock.nowMicros())
        const none = { path: '', lastEffect: null, searchAfter: 0, sends: 0, consumes: [] }
        payment ??= { ...work.row(period), party, startedAt, ...none }
        endRunning = markRunning(payment)
        stored = await store.find(payment, signal)
        if (stored === null) return []
        const found = await follow(stored, signal)
        return found.kind === 'undecided' ? found.open : []
      },
      async begin() {
        if (payment !== null) stored = await store.begin(payment, signal)
      },
      async beforeSend(contractId) {
        if (payment !== null) stored = await store.beforeSend(payment, signal, contractId)
      },
    }
    try {
      assertOnline()
      const { result, contractId, party } = await work.run(journal)
      const found = stored === null ? null : await follow(stored, signal).catch(() => null)
      const position =
        found?.kind === 'collected' ? found.position : await positionOf(party, contractId, signal)
      if (stored !== null) await forget(stored, signal)
      return { kind: 'done', ...position, result }
    } catch (error) {
      // The reason of the caller's signal is no answer, whatever it says of itself.
      if (signal?.aborted === true || !isQuorumscanError(error)) {
        if (stored === null) throw error
        return unknown(stored, error, signal)
      }
      const isOther = error.code === 'REGISTRATION_DIFFERS'
      const state = error.payment ?? 'unknown'
      const isOfStore =
        error.code === 'STORE_UNAVAILABLE' || error.details?.['limit'] === 'unfinished'
      if (isOfStore && stored === null) throw withPayment(error, state)
      if (isOther || (isUnpaid(state) && (await isLastOf(stored))))
        return { kind: 'refused', error: withPayment(error, state) }
      if (payment === null || (stored === null && state === 'unknown'))
        throw withPayment(error, 'unknown')
      return unknown(stored ?? payment, error, signal)
    } finally {
      endRunning()
    }
  }

  /** Whether no other client of the store sent a request meanwhile. Then it is removed. */
  const isLastOf = async (stored: StoredPayment | null): Promise<boolean> =>
    stored === null || (await store.removeUnlessSent(stored).catch(() => 'sent')) !== 'sent'

  const registerWork = (input: RegisterInput, options: RegisterOptions): Work<Registration> => {
    const { name, url, description } = checkedRegistration(input).fields
    const { autoRenew } = input
    const body = { name, url, description, ...(autoRenew !== undefined && { autoRenew }) }
    return {
      row: () => ({ id: `register-${name}`, kind: 'register', body }),
      async run(journal) {
        const result = await register(parts, input, { ...options, journal })
        return { result, contractId: result.entry.contractId, party: result.party }
      },
    }
  }

  const renewWork = (name: string, options: RenewOptions): Work<Renewal> => ({
    // With its due date, so that no repeat pays for a further period.
    row: (period = '') => ({
      id: `renew-${name}-${period}`,
      kind: 'renew',
      body: { name, after: period },
    }),
    async run(journal) {
      const { renewal, stateCid, party } = await renew(parts, name, { ...options, journal })
      return { result: renewal, contractId: stateCid, party }
    },
  })

  /** What was registered or renewed, as the transaction has it, which collected the coin. */
  const collected = async (
    payment: StoredPayment,
    { position, created }: Extract<Found, { kind: 'collected' }>,
    signal: AbortSignal | undefined,
  ): Promise<Done<Registration | Renewal>> => {
    const name = String(payment.body?.['name'])
    const { party } = payment
    if (payment.kind === 'renew') {
      const state = created.find((contract) => 'nextPaymentDueAt' in contract) ?? {}
      const paidUntil = String(state['nextPaymentDueAt'])
      const { microseconds } = membersOf(membersOf(state['payData'])['paymentDuration'])
      const renewableFrom = formatInstant(microsOf(paidUntil) - Number(microseconds ?? 0))
      const result = { name, paidUntil, renewableFrom, wasPaid: false }
      return { kind: 'done', ...position, result }
    }
    const entry = created.find((contract) => contract['name'] === name && 'expiresAt' in contract)
    await names.acceptChange(name, party)
    const options = callsUntil(parts, clock.monotonicMs() + NAME_PAYMENT_TIMEOUT_MS, signal)()
    const own = (await wallet.subscriptions(options)).find(({ subscription }) =>
      isFor(subscription, { name, party }),
    )
    const result = {
      name,
      party,
      wasOwned: false,
      autoRenew: own?.autoRenew ?? null,
      entry: entryOf(entry ?? {}, { name, party }),
    }
    return { kind: 'done', ...position, result }
  }

  const settle = async <T>(
    first: StoredPayment,
    options: SettleOptions = {},
  ): Promise<PaymentResult<T>> => {
    assertSettle(options)
    const { send = true, signal, timeoutMs } = options
    let payment = first
    try {
      assertOnline()
      // Another tab may have sent more.
      const all = await store.list(first.party, signal)
      payment = all.find(({ id }) => id === first.id) ?? first
      const found = await follow(payment, signal)
      if (found.kind === 'collected') {
        const done = await collected(payment, found, signal)
        await forget(payment, signal)
        // The kind of the payment decides on the type of the result.
        return done as PaymentResult<unknown> as PaymentResult<T>
      }
      const { consumes = [], body } = payment
      if (found.kind === 'ended' && consumes.length > 0) {
        const state = found.wasReturned ? 'refunded' : 'not-paid'
        const name = String(body?.['name'])
        const message = found.wasReturned
          ? `The coin for ${name} was returned in full.`
          : `What was to be paid for ${name} has ended, and nothing was paid.`
        const error = failure('PAYMENT_REFUNDED', message, { payment: state })
        if (await isLastOf(payment)) return { kind: 'refused', error: withPayment(error, state) }
      }
      if (!send) {
        const isLocked = found.kind === 'undecided' && found.isLocked
        const message = 'The ledger does not show the end of the payment yet.'
        const facts = { definite: false, retryable: true } as const
        const error = failure(isLocked ? 'PAYMENT_PENDING' : 'PAYMENT_UNKNOWN', message, facts)
        return unknown(payment, withPayment(error, isLocked ? 'locked' : 'unknown'))
      }
      const call = { ...(signal && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) }
      const work: Work<unknown> =
        payment.kind === 'register'
          ? registerWork(inputOf(payment), call)
          : renewWork(String(body?.['name']), { ...call, after: String(body?.['after']) })
      const result = await run(work, { signal, stored: payment })
      return result as PaymentResult<T>
    } catch (error) {
      return unknown(payment, error, signal)
    }
  }

  return {
    /** @throws {QuorumscanError} As `Payments`; with `payment`. */
    async register(
      input: RegisterInput,
      options: RegisterOptions = {},
    ): Promise<PaymentResult<Registration>> {
      const { signal } = options
      signal?.throwIfAborted()
      return await run(registerWork(input, options), { signal })
    },
    /** @throws {QuorumscanError} As `Payments`; with `payment`. */
    async renew(name: string, options: RenewOptions = {}): Promise<PaymentResult<Renewal>> {
      const { signal } = options
      signal?.throwIfAborted()
      return await run(renewWork(name, options), { signal })
    },
    settle,
  }
}

function inputOf({ body }: StoredPayment): RegisterInput {
  const { name, url, description, autoRenew } = body ?? {}
  return {
    name: String(name),
    url: String(url),
    description: String(description),
    ...(typeof autoRenew === 'boolean' && { autoRenew }),
  }
}

function entryOf(
  created: Readonly<Record<string, unknown>>,
  owned: { readonly name: string; readonly party: Party },
): NameEntry {
  const { url, description, expiresAt, contractId } = created
  return {
    ...owned,
    url: String(url ?? ''),
    description: String(description ?? ''),
    expiresAt: typeof expiresAt === 'string' ? expiresAt : null,
    contractId: typeof contractId === 'string' ? (contractId as ContractId) : null,
  }
}
