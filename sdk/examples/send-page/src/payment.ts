/**
 * Payments that cannot happen twice: the tracking id is stored before the first request, so that a repeat after a crash,
 * a reload or a lost answer is the same transfer.
 */
import { isQuorumscanError } from '@quorumscan/sdk'
import { inHours } from './use-account.ts'
import { user, validator } from './wallet.ts'

export type Payment = {
  readonly receiver: string
  readonly amount: string
  readonly trackingId: string
  readonly expiresAt: string
}

const KEY = `send-page:${user}:payment`

/** A payment whose result is unknown. */
export function storedPayment(): Payment | null {
  return JSON.parse(localStorage.getItem(KEY) ?? 'null')
}

export function storePayment(terms: Pick<Payment, 'receiver' | 'amount'>): Payment {
  const payment = { ...terms, trackingId: crypto.randomUUID(), expiresAt: inHours(24) }
  localStorage.setItem(KEY, JSON.stringify(payment))
  return payment
}

/** @throws The error of the transfer. The payment stays stored unless it certainly had no effect. */
export async function pay(payment: Payment): Promise<void> {
  try {
    await validator.wallet.createTransfer(payment)
  } catch (error) {
    const isKnown = isQuorumscanError(error) && error.definite
    if (isKnown) localStorage.removeItem(KEY)
    // An earlier request with this id has made the transfer.
    if (isKnown && error.code === 'DUPLICATE_COMMAND') return
    throw error
  }
  localStorage.removeItem(KEY)
}
