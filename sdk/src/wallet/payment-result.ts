/** What became of a payment, and the options of its calls. */
import type { KnownError } from '../known-errors.ts'
import type { CallOptions } from './wallet.ts'

/** What became of a payment. */
export type PaymentResult<T> =
  /** It took effect, as the ledger has it. */
  | {
      readonly kind: 'done'
      /** null: of a registration or renewal whose transaction the ledger interface does not show any more. */
      readonly updateId: string | null
      readonly offset: number
      /** ISO-8601 UTC. null as `updateId`. */
      readonly recordTime: string | null
      readonly result: T
    }
  /** It did not happen, and cannot happen any more. */
  | { readonly kind: 'refused'; readonly error: KnownError }
  /**
   * It may or may not take effect. `error` is PAYMENT_UNKNOWN, whose `cause` is the last failure. Of a registration or
   * renewal also PAYMENT_PENDING, while its coin is locked, or CONSENSUS_LAGGING, until the nodes show it.
   */
  | { readonly kind: 'unknown'; readonly error: KnownError; readonly settle: Settle<T> }

/**
 * Reads the ledger first. If that shows nothing, and the payment can still take effect, it sends the same request again,
 * which pays at most once. `send: false` only reads.
 */
export type Settle<T> = (options?: SettleOptions) => Promise<PaymentResult<T>>

/** A completed step. `isResumed`: an earlier call had completed it. */
export type PaymentProgress =
  /** The payment is stored, and will be sent. */
  | { readonly step: 'stored'; readonly isResumed: boolean }
  /** Its request is under way: from now on it may take effect. */
  | { readonly step: 'sent'; readonly isResumed: boolean }
  /** The ledger has it. */
  | { readonly step: 'done'; readonly isResumed: boolean }

/** Options of a payment. */
export type PaymentOptions = CallOptions & {
  /** Called after each step. */
  readonly onProgress?: (event: PaymentProgress) => void
}

/** Options of `settle`. A registration or renewal calls no `onProgress` then. */
export type SettleOptions = PaymentOptions & { readonly send?: boolean }
