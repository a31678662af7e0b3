/**
 * Payments of the user: each takes effect at most once, and its result is what the ledger has (D-84).
 *
 * A request is stored before it is sent, and removed when it is settled. These alone settle it: an answer with its effect,
 * a transaction on the ledger, the refusal of the only request that was ever sent, or a proven record time after which it
 * cannot take effect, with no transaction up to it.
 */
import {
  formatInstant,
  NOT_AFTER_MICROS_MAX,
  PAYMENT_EXPIRY_MICROS_MAX,
  parseInstant,
  toHex,
  utf8,
} from '@quorumscan/verifier'
import { sha256 } from '@quorumscan/verifier/certified'
import { failure, invalidArgument, isQuorumscanError, type QuorumscanError } from '../errors.ts'
import * as answers from '../generated/checks.ts'
import type { Http } from '../http/http.ts'
import type { KnownError } from '../known-errors.ts'
import { readLedgerEnd } from '../ledger/updates.ts'
import type { Names } from '../names/lookup-types.ts'
import { toCamel } from '../platform/camel.ts'
import { type Clock, microsOf, randomId } from '../platform/clock.ts'
import { deviceState } from '../platform/page.ts'
import type { ContractId } from '../platform/values.ts'
import { searchPayment } from './payment-search.ts'
import type { PaymentKind, PaymentStore, StoredPayment } from './payment-store.ts'
import type { CallOptions, TransferResult, Wallet } from './wallet.ts'

/** What became of a payment. */
export type PaymentResult<T> =
  /** It took effect, as the ledger has it. */
  | {
      readonly kind: 'done'
      readonly updateId: string
      readonly offset: number
      /** ISO-8601 UTC. */
      readonly recordTime: string
      readonly result: T
    }
  /** It did not happen, and cannot happen any more. */
  | { readonly kind: 'refused'; readonly error: KnownError }
  /** It may or may not take effect. `error` is PAYMENT_UNKNOWN; its `cause` is the last failure. */
  | { readonly kind: 'unknown'; readonly error: KnownError; readonly settle: Settle<T> }

/**
 * Reads the ledger first. If that shows nothing, and the payment can still take effect, it sends the same request again,
 * which pays at most once. `send: false` only reads.
 */
export type Settle<T> = (options?: SettleOptions) => Promise<PaymentResult<T>>

/** Options of `settle`. */
export type SettleOptions = CallOptions & { readonly send?: boolean }

/** A transfer of coin. */
export type TransferInput = {
  /** A party. */
  readonly receiver: string
  /** In coin, such as `1.5`. */
  readonly amount: string
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
  /** Command id on the ledger. */
  readonly id: string
  /** When it was sent first, by the clock of the device: ISO-8601 UTC. */
  readonly startedAt: string
  /** Of a transfer. */
  readonly transfer: Required<TransferInput> | null
  /** Of the answer to an offer. */
  readonly contractId: ContractId | null
  readonly settle: Settle<unknown>
}

/**
 * Payments of the token's user. Each call resolves to what became of the payment, also if the connection fails. Pass
 * `store` to `createValidator`: in memory, `unfinished` knows only this program.
 *
 * Each call throws only if nothing was sent: INVALID_ARGUMENT, LIMIT_EXCEEDED for 100 unsettled payments, an error of
 * the store, or the reason of a signal that aborted before.
 */
export interface Payments {
  /** Offers coin to a party. To the user itself it moves at once. */
  transfer(input: TransferInput, options?: CallOptions): Promise<PaymentResult<TransferResult>>
  /** Accepts an offer to the user. */
  acceptTransfer(id: ContractId, options?: CallOptions): Promise<PaymentResult<TransferResult>>
  /** Rejects an offer, and returns the coin to the sender. */
  rejectTransfer(id: ContractId, options?: CallOptions): Promise<PaymentResult<TransferResult>>
  /** Withdraws an offer of the user. */
  withdrawTransfer(id: ContractId, options?: CallOptions): Promise<PaymentResult<TransferResult>>
  /** Creates coin worth `usd`, in a development network. Taps with the same id happen once. Default: a new id. */
  tap(
    input: { readonly usd: string; readonly commandId?: string },
    options?: CallOptions,
  ): Promise<PaymentResult<{ readonly contractId: ContractId }>>
  /** Payments of the user whose result is not known, the oldest first. */
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
export function createPayments(parts: {
  readonly http: Http
  readonly wallet: Pick<Wallet, 'status'>
  readonly names: Pick<Names, 'lookup'>
  readonly clock: Clock
  readonly store: PaymentStore
  /** Whether the validator is on this device, which needs no network. */
  readonly isLocal: boolean
}): Payments {
  const { http, wallet, names, clock, store } = parts
  let known = ''
  const partyOf = async (options: CallOptions): Promise<string> => {
    if (known === '') known = (await wallet.status(options)).partyId
    if (known === '')
      throw failure('WALLET_NOT_FOUND', 'The user has no party yet: call `wallet.register()`.')
    return known
  }

  const assertOnline = (): void => {
    if (!deviceState().isOffline || parts.isLocal) return
    throw failure('NETWORK_ERROR', 'This device is offline. Nothing is sent until you try again.', {
      retryable: true,
    })
  }

  const refused = (error: QuorumscanError) =>
    ({ kind: 'refused', error: error as KnownError }) as const

  const unknown = <T>(payment: StoredPayment, cause: unknown): PaymentResult<T> => {
    const reason = cause instanceof Error ? cause.message : 'The wait was cancelled.'
    const message = `It is not known whether the payment took effect. ${reason} To settle it is safe: the ledger is read first, and it pays at most once.`
    const facts = { definite: false, retryable: true, payment: 'unknown', cause } as const
    const error = failure('PAYMENT_UNKNOWN', message, facts) as KnownError
    return { kind: 'unknown', error, settle: (options) => settle(payment, options) }
  }

  /** The result that an answer shows; null: it has no effect. */
  const done = async <T>(payment: StoredPayment, body: unknown): Promise<PaymentResult<T>> => {
    const result = toCamel(body) as Readonly<Record<string, unknown>>
    const { updateId, offset, recordTime } = Object(result['meta'] ?? result)
    if (typeof updateId !== 'string') return unknown(payment, new Error('It has no update id.'))
    await forget(payment)
    return { kind: 'done', updateId, offset: Number(offset), recordTime, result: result as T }
  }

  /** A store that fails keeps a settled payment, which settles again. */
  const forget = (payment: StoredPayment) => store.remove(payment).catch(() => {})

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
      return await done(payment, await http.call<unknown>(request, isValid))
    } catch (error) {
      if (!isQuorumscanError(error)) return unknown(payment, error)
      const first = error.details?.['result']
      if (error.code === 'DUPLICATE_COMMAND' && first != null) return done(payment, first)
      // A transaction with the id is on the ledger, and has other content.
      if (error.code === 'PAYMENT_DIFFERS') {
        await forget(payment)
        return refused(error)
      }
      try {
        const found = turn === 'answer' ? await read<T>(payment, options) : null
        if (found !== null) return found
        if (turn !== 'repeat' && error.definite && (await store.removeOnly(payment)))
          return refused(error)
      } catch {
        // The ledger or the store cannot be read: its last word is that of the request.
      }
      return unknown(payment, error)
    }
  }

  /** Looks for the payment, and for a proof that it cannot take effect any more; null: neither. */
  const read = async <T>(
    payment: StoredPayment,
    options: CallOptions,
  ): Promise<PaymentResult<T> | null> => {
    // Before the search, which must reach beyond it.
    const proven = payment.lastEffect === null ? null : await provenTime(options)
    const search = await searchPayment(http, payment, options)
    if (search.kind === 'pruned') return null
    if (search.kind === 'found') {
      const { updateId, offset, recordTime } = search.transaction
      await forget(payment)
      return { kind: 'done', updateId, offset, recordTime, result: search.result as T }
    }
    if (search.kind === 'other') {
      await forget(payment)
      const message = `The offer ended in another way: ${search.choice}.`
      return refused(failure('CONTRACT_CONSUMED', message, { payment: 'not-paid' }))
    }
    const { lastEffect } = payment
    if (proven === null || lastEffect === null) return null
    if (proven.recordTime <= lastEffect || search.end < proven.offset) return null
    await forget(payment)
    const message = `The payment did not take effect until ${formatInstant(lastEffect)}, and cannot any more.`
    return refused(failure('SUBMISSION_EXPIRED', message, { payment: 'not-paid' }))
  }

  /** A record time that enough nodes signed; null if none is proven now. */
  const provenTime = async ({ signal, timeoutMs }: CallOptions) => {
    const bounds = { ...(signal && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) }
    const outcome = await names.lookup(PROBE, bounds)
    if (!('entry' in outcome) || !('recordTime' in outcome)) return null
    const recordTime = parseInstant(outcome.recordTime)
    return recordTime === undefined ? null : { recordTime, offset: outcome.offset }
  }

  const settle = async <T>(
    payment: StoredPayment,
    options: SettleOptions = {},
  ): Promise<PaymentResult<T>> => {
    const { send: maySend = true, ...call } = options
    try {
      assertOnline()
      const found = await read<T>(payment, call)
      if (found !== null) return found
      if (!maySend || (await partyOf(call)) !== payment.party)
        return unknown(payment, new Error('The ledger does not show it yet.'))
      // Not the only request: its refusal proves nothing. After its expiry it has no effect.
      return await send(await store.beforeSend(payment), 'repeat', call)
    } catch (error) {
      return unknown(payment, error)
    }
  }

  /** Begins a payment, or continues one that this store has. */
  const pay = async <T>(request: Request, options: CallOptions): Promise<PaymentResult<T>> => {
    options.signal?.throwIfAborted()
    const { isNew, ...own } = request
    let payment: StoredPayment
    try {
      assertOnline()
      const party = await partyOf(options)
      // The id is new: the ledger has it at no offset so far.
      const searchAfter = isNew ? await readLedgerEnd(http, options.signal) : 0
      const startedAt = formatInstant(clock.nowMicros())
      payment = { ...own, party, startedAt, searchAfter, sends: 0 }
    } catch (error) {
      options.signal?.throwIfAborted()
      if (isNew && isQuorumscanError(error)) return refused(error)
      // This call sent nothing. An earlier one, or another device, may have paid with the id.
      throw error
    }
    const stored = await store.beforeSend(payment)
    if (JSON.stringify(stored.body) !== JSON.stringify(payment.body)) {
      const message = 'Another payment with the same id is not settled. Settle it, or use a new id.'
      return refused(failure('PAYMENT_DIFFERS', message))
    }
    if (stored.sends > 1) return await settle(stored, options)
    const isAnswer = payment.body === null
    return await send(stored, isNew ? 'new' : isAnswer ? 'answer' : 'repeat', options)
  }

  const answer = (kind: 'accept' | 'reject' | 'withdraw') => {
    return async (contractId: ContractId, options: CallOptions = {}) => {
      const path = `${TRANSFERS}/${encodeURIComponent(contractId)}/${kind}`
      const id = `${kind}-transfer-${contractId}`
      const request = { id, kind, path, body: null, lastEffect: null, isNew: false }
      return await pay<TransferResult>(request, options)
    }
  }

  return {
    async transfer(input, options = {}) {
      const { receiver, amount, description = '', trackingId = randomId() } = input
      const now = clock.nowMicros()
      const expiresAt = input.expiresAt === undefined ? now + DAY_MICROS : microsOf(input.expiresAt)
      if (expiresAt > now + PAYMENT_EXPIRY_MICROS_MAX)
        throw invalidArgument('`expiresAt` must be at most 30 days ahead.')
      const body = {
        receiver_party_id: receiver,
        amount,
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
    async unfinished(options = {}) {
      const payments = await store.list(await partyOf(options))
      return payments.map((payment) => {
        const { id, kind, startedAt } = payment
        return {
          id,
          kind,
          startedAt,
          transfer: kind === 'transfer' ? transferOf(payment) : null,
          contractId: payment.body === null ? (payment.path.split('/').at(-2) as ContractId) : null,
          settle: (more?: SettleOptions) => settle(payment, more),
        }
      })
    },
  }
}

function transferOf({ body }: StoredPayment): Required<TransferInput> {
  return {
    receiver: String(body?.['receiver_party_id']),
    amount: String(body?.['amount']),
    description: String(body?.['description']),
    expiresAt: formatInstant(Number(body?.['expires_at'])),
    trackingId: String(body?.['tracking_id']),
  }
}
