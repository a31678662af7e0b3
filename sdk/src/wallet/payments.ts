/**
 * Payments of the user: each takes effect at most once, and its result is what the ledger has (D-84).
 *
 * A request is stored before it is sent, and removed when it is settled. These alone settle it: an answer with its effect,
 * a transaction on the ledger, the refusal of the only request that was ever sent, or a proven record time after which it
 * cannot take effect, with no transaction up to it.
 */
import {
  formatInstant,
  membersOf,
  NOT_AFTER_MICROS_MAX,
  PAYMENT_EXPIRY_MICROS_MAX,
  parseInstant,
  toHex,
  utf8,
} from '@quorumscan/verifier'
import { sha256 } from '@quorumscan/verifier/certified'
import { failure, invalidArgument, isQuorumscanError, type QuorumscanError } from '../errors.ts'
import * as answers from '../generated/checks.ts'
import { readLedgerEnd } from '../ledger/updates.ts'
import { renameMembers } from '../platform/camel.ts'
import { offlineError } from '../platform/online.ts'
import { parseParty } from '../platform/parse-party.ts'
import { isParty, type Party } from '../platform/party.ts'
import { randomId } from '../platform/random.ts'
import { microsOf } from '../platform/times.ts'
import { told } from '../platform/told.ts'
import type { ContractId } from '../platform/values.ts'
import { assertSettle } from './call-checks.ts'
import { createNamePayments } from './name-payments.ts'
import type {
  PaymentOptions,
  PaymentProgress,
  PaymentResult,
  Settle,
  SettleOptions,
} from './payment-result.ts'
import { searchPayment } from './payment-search.ts'
import { unknownPayment, withPayment } from './payment-state.ts'
import type { PaymentKind, PaymentStore, StoredPayment } from './payment-store.ts'
import type {
  RegisterInput,
  RegisterOptions,
  Registration,
  RegistrationParts,
} from './registration.ts'
import type { Renewal, RenewOptions } from './renewal.ts'
import type { CallOptions, TransferResult } from './wallet.ts'

/** A transfer of coin. */
export type TransferInput = {
  /** As a lookup, a hook or the wallet returns it; `parseParty` makes one of a text. */
  readonly receiver: Party
  /** An amount of coin, as a decimal text such as `1.5`, greater than zero: `parseAmount` reads a typed one. */
  readonly coin: string
  /** Until when the receiver can accept, ISO-8601 UTC: at most 30 days ahead. Default: in 24 hours. */
  readonly expiresAt?: string
  /** Transfers with the same id and content happen once, on all devices. Default: a new id. */
  readonly trackingId?: string
  /** For the receiver. Default: empty. */
  readonly description?: string
}

/** A payment that a closed session left, with what was requested. */
export type UnfinishedPayment = {
  readonly kind: PaymentKind
  /** Command id on the ledger. Of a registration or renewal, an id of the SDK. */
  readonly id: string
  /** When it was stored, by the clock of the device: ISO-8601 UTC. */
  readonly startedAt: string
  /** Of a transfer. */
  readonly transfer: Required<TransferInput> | null
  /** Of the answer to an offer. */
  readonly contractId: ContractId | null
  /** Of a registration or renewal. */
  readonly name: string | null
  readonly settle: Settle<unknown>
}

/**
 * Payments of the token's user, who gets a party with the first. Each call resolves to what became of the payment, also if the connection fails. Pass
 * `store` to `createValidator`: in memory, `unfinished` knows only this program.
 *
 * Each call throws only if it sent nothing: INVALID_ARGUMENT and errors of a name, LIMIT_EXCEEDED for 100 unsettled
 * payments, STORE_UNAVAILABLE, or the reason of a signal that aborted before; and if an earlier call or another device
 * may have paid with the caller's own id, or for the same name, the error of the first read, or OFFLINE.
 */
export interface Payments {
  /** Offers coin to a party. To the user itself it moves at once. */
  transfer(input: TransferInput, options?: PaymentOptions): Promise<PaymentResult<TransferResult>>
  /** Accepts an offer to the user. */
  acceptTransfer(id: ContractId, options?: PaymentOptions): Promise<PaymentResult<TransferResult>>
  /** Rejects an offer, and returns the coin to the sender. */
  rejectTransfer(id: ContractId, options?: PaymentOptions): Promise<PaymentResult<TransferResult>>
  /** Withdraws an offer of the user. */
  withdrawTransfer(id: ContractId, options?: PaymentOptions): Promise<PaymentResult<TransferResult>>
  /** Creates coin worth `usd` (an amount of USD, as a decimal text such as `10.0`), in a development network. Taps with the same id happen once. Default: a new id. */
  tap(
    input: { readonly usd: string; readonly commandId?: string },
    options?: PaymentOptions,
  ): Promise<PaymentResult<{ readonly contractId: ContractId }>>
  /** As `names.register`, which throws unless the result is `done`. */
  register(input: RegisterInput, options?: RegisterOptions): Promise<PaymentResult<Registration>>
  /** As `names.renew`, which throws unless the result is `done`. */
  renew(name: string, options?: RenewOptions): Promise<PaymentResult<Renewal>>
  /** Payments of the user whose result is not known, and which no call of this client settles now, the oldest first. */
  unfinished(options?: CallOptions): Promise<readonly UnfinishedPayment[]>
}

const WALLET = '/v0/wallet'
const TRANSFERS = `${WALLET}/token-standard/transfers`
const DAY_MICROS = 86_400_000_000
/** Any name shows a proven record time. */
const PROBE = 'payments.unverified.ns'

type Request = Pick<StoredPayment, 'id' | 'kind' | 'path' | 'body' | 'lastEffect'> & {
  /** No other device knows the id. */
  readonly isNew: boolean
}

/** @internal Only `createValidator` calls it. */
export function createPayments(
  parts: RegistrationParts & {
    readonly store: PaymentStore
    /** Of the validator. */
    readonly url: string
  },
): Payments {
  const { http, wallet, names, clock, store } = parts
  let known: Party | '' = ''
  /** Empty: the user has none yet. */
  const partyOf = async (options: CallOptions): Promise<Party | ''> => {
    if (known === '') known = (await wallet.status(options)).partyId
    return known
  }

  const assertOnline = (): void => {
    const error = offlineError(parts.url)
    if (error !== null) throw error
  }

  const refused = (error: QuorumscanError) =>
    ({ kind: 'refused', error: withPayment(error, 'not-paid') }) as const

  const unknown = <T>(
    payment: StoredPayment,
    cause: unknown,
    signal?: AbortSignal,
  ): PaymentResult<T> => ({
    kind: 'unknown',
    error: unknownPayment(cause, signal),
    settle: (options) => settle(payment, options),
  })

  /** Payments that calls of this client make or settle now, with how many do. */
  const running = new Map<string, number>()
  /** @returns Ends the mark. */
  const markRunning = ({ party, id }: Pick<StoredPayment, 'party' | 'id'>) => {
    const slot = `${party} ${id}`
    running.set(slot, (running.get(slot) ?? 0) + 1)
    return () => {
      const rest = (running.get(slot) ?? 1) - 1
      if (rest > 0) running.set(slot, rest)
      else running.delete(slot)
    }
  }

  const ofNames = createNamePayments({ ...parts, assertOnline, markRunning })

  const shown = <T>(
    result: PaymentResult<T>,
    onProgress: (event: PaymentProgress) => void,
    isResumed: boolean,
  ): PaymentResult<T> => {
    if (result.kind === 'done') onProgress({ step: 'done', isResumed })
    return result
  }

  /** The result that an answer shows; null: it has no effect. */
  const done = async <T>(
    payment: StoredPayment,
    body: unknown,
    signal: AbortSignal | undefined,
  ): Promise<PaymentResult<T>> => {
    // A payment that took effect is done, whatever else its answer says.
    const result = membersOf(renameMembers(body))
    const { updateId, offset, recordTime } = membersOf(result['meta'] ?? result)
    if (typeof updateId !== 'string' || typeof recordTime !== 'string')
      return unknown(payment, new Error('The answer has no update id.'))
    await forget(payment, signal)
    return { kind: 'done', updateId, offset: Number(offset), recordTime, result: result as T }
  }

  /** A store that fails keeps a settled payment, which settles again. */
  const forget = (payment: StoredPayment, signal: AbortSignal | undefined) =>
    store.remove(payment, signal).catch(() => {})

  /** Whether no other request was sent. Then the payment is removed. */
  const isOnly = async (payment: StoredPayment): Promise<boolean> =>
    payment.sends === 1 && (await store.removeUnlessSent(payment)) === 'removed'

  /**
   * Sends the stored request. A refusal settles it if no other request was ever sent: by this store, nor, if its id is
   * new, by another device. The refusal of an answer to an offer settles it while the offer is open.
   */
  const send = async <T>(
    payment: StoredPayment,
    turn: 'new' | 'answer' | 'repeat',
    options: CallOptions,
  ): Promise<PaymentResult<T>> => {
    const { signal, timeoutMs } = options
    const { path, body } = payment
    const request = { method: 'POST', path, body: body ?? undefined, signal, timeoutMs } as const
    const isValid = payment.kind === 'tap' ? answers.isTapAnswer : answers.isTransferAnswer
    try {
      return await done(payment, await http.call<unknown>(request, isValid), signal)
    } catch (error) {
      // The reason of the caller's signal is no answer, whatever it says of itself.
      if (signal?.aborted === true || !isQuorumscanError(error))
        return unknown(payment, error, signal)
      const first = error.details?.['result']
      if (error.code === 'DUPLICATE_COMMAND' && first != null) return done(payment, first, signal)
      // A transaction with the id is on the ledger, and has other content.
      if (error.code === 'PAYMENT_DIFFERS') {
        await forget(payment, signal)
        return refused(error)
      }
      try {
        const found = turn === 'answer' ? await read<T>(payment, options) : null
        if (found !== null) return found
        if (turn !== 'repeat' && error.definite && (await isOnly(payment))) return refused(error)
      } catch {
        // The ledger or the store cannot be read: its last word is that of the request.
      }
      return unknown(payment, error, signal)
    }
  }

  /** Looks for the payment, and for a proof that it cannot take effect any more; null: neither. */
  const read = async <T>(
    payment: StoredPayment,
    options: CallOptions,
  ): Promise<PaymentResult<T> | null> => {
    const { signal } = options
    // Before the search, which must reach beyond it.
    const proven = payment.lastEffect === null ? null : await provenTime(options)
    const search = await searchPayment(http, payment, options)
    if (search.kind === 'pruned') return null
    if (search.kind === 'found') {
      const { updateId, offset, recordTime } = search.transaction
      await forget(payment, signal)
      return { kind: 'done', updateId, offset, recordTime, result: search.result as T }
    }
    if (search.kind === 'other') {
      await forget(payment, signal)
      const message = `The offer ended in another way: ${search.choice}.`
      return refused(failure('CONTRACT_CONSUMED', message))
    }
    const { lastEffect } = payment
    if (proven === null || lastEffect === null) return null
    if (proven.recordTime <= lastEffect || search.end < proven.offset) return null
    await forget(payment, signal)
    const message = `The payment did not take effect until ${formatInstant(lastEffect)}, and cannot any more.`
    return refused(failure('SUBMISSION_EXPIRED', message))
  }

  /** A record time that enough nodes signed; null if none is proven now. */
  const provenTime = async ({ signal, timeoutMs }: CallOptions) => {
    const bounds = { ...(signal && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) }
    const outcome = await names.lookup(PROBE, bounds)
    const facts = outcome.kind === 'failed' ? outcome.facts : outcome
    const recordTime = facts === null ? undefined : parseInstant(facts.recordTime)
    return facts === null || recordTime === undefined ? null : { recordTime, offset: facts.offset }
  }

  const settle = async <T>(
    payment: StoredPayment,
    options: SettleOptions = {},
  ): Promise<PaymentResult<T>> => {
    assertSettle(options)
    const { send: maySend = true, onProgress: listener, ...call } = options
    const onProgress = told(listener)
    const { kind, party } = payment
    if (kind === 'register' || kind === 'renew') return await ofNames.settle(payment, options)
    const endRunning = markRunning(payment)
    try {
      assertOnline()
      onProgress({ step: 'stored', isResumed: true })
      onProgress({ step: 'sent', isResumed: true })
      const found = await read<T>(payment, call)
      if (found !== null) return shown(found, onProgress, true)
      if (!maySend || (await partyOf(call)) !== party)
        return unknown(payment, new Error('The ledger does not show it yet.'))
      // Not the only request: its refusal proves nothing. After its expiry it has no effect.
      const stored = await store.beforeSend(payment, call.signal)
      return shown(await send<T>(stored, 'repeat', call), onProgress, false)
    } catch (error) {
      return unknown(payment, error, call.signal)
    } finally {
      endRunning()
    }
  }

  /** Begins a payment, or continues one that this store has. */
  const pay = async <T>(request: Request, options: PaymentOptions): Promise<PaymentResult<T>> => {
    const { signal } = options
    const onProgress = told(options.onProgress)
    signal?.throwIfAborted()
    const { isNew, ...own } = request
    let payment: StoredPayment
    try {
      assertOnline()
      const party = (await partyOf(options)) || (await wallet.party(options))
      // The id is new: the ledger has it at no offset so far.
      const searchAfter = isNew ? await readLedgerEnd(http, signal) : 0
      const startedAt = formatInstant(clock.nowMicros())
      payment = { ...own, party, startedAt, searchAfter, sends: 0 }
    } catch (error) {
      signal?.throwIfAborted()
      if (isNew && isQuorumscanError(error)) return refused(error)
      // This call sent nothing. An earlier one, or another device, may have paid with the id.
      throw withPayment(error, 'unknown')
    }
    const endRunning = markRunning(payment)
    try {
      // Nothing was sent now. With an id that is not new, an earlier call or another device may have paid.
      const stored = await store.beforeSend(payment, signal).catch((error: unknown) => {
        signal?.throwIfAborted()
        throw withPayment(error, isNew ? 'not-paid' : 'unknown')
      })
      if (JSON.stringify(stored.body) !== JSON.stringify(payment.body)) {
        const message =
          'Another payment with the same id is not settled. Settle it, or use a new id.'
        return refused(failure('PAYMENT_DIFFERS', message))
      }
      if (stored.sends > 1) return await settle(stored, options)
      onProgress({ step: 'stored', isResumed: false })
      onProgress({ step: 'sent', isResumed: false })
      const isAnswer = payment.body === null
      const turn = isNew ? 'new' : isAnswer ? 'answer' : 'repeat'
      return shown(await send<T>(stored, turn, options), onProgress, false)
    } finally {
      endRunning()
    }
  }

  const answer = (kind: 'accept' | 'reject' | 'withdraw') => {
    return async (contractId: ContractId, options: PaymentOptions = {}) => {
      const path = `${TRANSFERS}/${encodeURIComponent(contractId)}/${kind}`
      const id = `${kind}-transfer-${contractId}`
      const request = { id, kind, path, body: null, lastEffect: null, isNew: false }
      return await pay<TransferResult>(request, options)
    }
  }

  return {
    async transfer(input, options = {}) {
      const { coin, description = '', trackingId = randomId() } = input
      const receiver = parseParty(input.receiver)
      const now = clock.nowMicros()
      const expiresAt = input.expiresAt === undefined ? now + DAY_MICROS : microsOf(input.expiresAt)
      if (expiresAt > now + PAYMENT_EXPIRY_MICROS_MAX)
        throw invalidArgument('`expiresAt` must be at most 30 days ahead.')
      const body = {
        receiver_party_id: receiver,
        amount: coin,
        description,
        expires_at: expiresAt,
        tracking_id: trackingId,
      }
      const request = {
        id: `transfer-${toHex(sha256(utf8(trackingId)))}`,
        kind: 'transfer',
        path: TRANSFERS,
        body,
        // A submission that was signed before the expiry enters the log within this time, or never.
        lastEffect: expiresAt + NOT_AFTER_MICROS_MAX,
        isNew: input.trackingId === undefined,
      } as const
      return await pay(request, options)
    },
    acceptTransfer: answer('accept'),
    rejectTransfer: answer('reject'),
    withdrawTransfer: answer('withdraw'),
    async tap({ usd, commandId }, options = {}) {
      const id = commandId ?? randomId()
      const body = { amount: usd, command_id: id }
      const isNew = commandId === undefined
      const path = `${WALLET}/tap`
      return await pay({ id, kind: 'tap', path, body, lastEffect: null, isNew }, options)
    },
    register: (input, options) => ofNames.register(input, options),
    renew: (name, options) => ofNames.renew(name, options),
    async unfinished(options = {}) {
      const party = await partyOf(options)
      const payments = party === '' ? [] : await store.list(party, options.signal)
      const idle = payments.filter(({ party, id }) => !running.has(`${party} ${id}`))
      return idle.map((payment) => {
        const { id, kind, startedAt } = payment
        return {
          id,
          kind,
          startedAt,
          transfer: kind === 'transfer' ? transferOf(payment) : null,
          contractId: payment.body === null ? (payment.path.split('/').at(-2) as ContractId) : null,
          name: typeof payment.body?.['name'] === 'string' ? payment.body['name'] : null,
          settle: (more?: SettleOptions) => settle(payment, more),
        }
      })
    },
  }
}

/** null: an older version of the SDK stored a text that is no party, which the validator refuses. */
function transferOf({ body }: StoredPayment): Required<TransferInput> | null {
  const receiver = body?.['receiver_party_id']
  if (!isParty(receiver)) return null
  return {
    receiver,
    coin: String(body?.['amount']),
    description: String(body?.['description']),
    expiresAt: formatInstant(Number(body?.['expires_at'])),
    trackingId: String(body?.['tracking_id']),
  }
}
