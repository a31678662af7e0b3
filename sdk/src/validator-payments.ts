/** Payments, and names of the token's user. `createValidator` loads them with the first of their calls. */
import { isQuorumscanError } from './errors.ts'
import type { Http } from './http/http.ts'
import type { Lookups } from './names/lookups.ts'
import type { Names } from './names/names-type.ts'
import { READ_TIMEOUT_MS } from './platform/deadline.ts'
import type { CheckedOptions, OwnNames } from './validator-options.ts'
import { listNames } from './wallet/own-names.ts'
import type { PaymentResult } from './wallet/payment-result.ts'
import { createPaymentStore } from './wallet/payment-store.ts'
import { createPayments } from './wallet/payments.ts'
import type { RegistrationParts } from './wallet/registration.ts'
import { cancel, setAutoRenew } from './wallet/renewal.ts'
import type { AtOffset, Wallet } from './wallet/wallet.ts'

export function createOwnPayments(
  options: CheckedOptions & {
    readonly http: Http
    readonly wallet: Wallet
    readonly lookups: Lookups
  },
) {
  const { url, clock, timeoutMs = READ_TIMEOUT_MS, http, wallet, lookups } = options
  const { reads, names } = lookups
  const parts: RegistrationParts = { http, wallet, names, clock, timeoutMs }
  const store = createPaymentStore(options.store, () => reads.storeKey('payments'), clock)
  const payments = createPayments({ ...parts, store, url })
  /** Adds the offset of a result, which clients that share the store include in their reads. */
  const atOffset = async <T>(result: T): Promise<T & AtOffset> => {
    const offset = http.offset()
    await reads.writeFloor.record(offset)
    return { ...result, offset }
  }
  const own: Omit<OwnNames, keyof Names> = {
    list: (more) => listNames({ http, wallet, names }, more),
    register: async (input, more) =>
      atOffset(resultOf(await payments.register(input, more), more?.signal)),
    renew: async (name, more) => atOffset(resultOf(await payments.renew(name, more), more?.signal)),
    cancel: (name, more) => cancel(parts, name, more),
    setAutoRenew: (name, isEnabled, more) => setAutoRenew(parts, name, { ...more, isEnabled }),
  }
  return { payments, names: own }
}

/** @throws {QuorumscanError} Why the payment is not done. @throws The signal's reason, unless it is an error of the SDK. */
function resultOf<T>(payment: PaymentResult<T>, signal: AbortSignal | undefined): T {
  if (payment.kind === 'done') return payment.result
  // An error of the SDK as reason says nothing of the payment.
  if (payment.kind === 'unknown' && !isQuorumscanError(signal?.reason)) signal?.throwIfAborted()
  throw payment.error
}
