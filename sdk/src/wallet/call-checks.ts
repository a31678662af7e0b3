/** Checks of options that many calls share, and of those of `settle`. */
import { assertOptions, isBoolean, isFunction, isMs, isSignal } from '../platform/options.ts'
import type { SettleOptions } from './payment-result.ts'

/** Of `CallOptions`. */
export const CALL = { signal: isSignal, timeoutMs: isMs } as const
/** Of `PaymentOptions`. */
export const PROGRESS = { ...CALL, onProgress: isFunction } as const

/** @throws {QuorumscanError} INVALID_ARGUMENT. */
export function assertSettle(options: SettleOptions): void {
  assertOptions<SettleOptions>('settle', options, { ...PROGRESS, send: isBoolean })
}
