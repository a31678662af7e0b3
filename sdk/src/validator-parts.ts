/** What a client of a validator does once it is used: `createValidator` loads it with the first call. */
import { createActivities, createActivityHints } from './activities/activities.ts'
import { createHttp } from './http/http.ts'
import { tracedFetch } from './http/traced-fetch.ts'
import { createCommands } from './ledger/commands.ts'
import { createUpdates } from './ledger/updates.ts'
import type { Lookups } from './names/lookups.ts'
import { openProxyReader } from './names/proxy-reader.ts'
import { type Clock, platformRandom } from './platform/clock.ts'
import { TIMEOUT_MS } from './platform/deadline.ts'
import { platformCrypto } from './platform/platform-crypto.ts'
import type { SharedStore } from './platform/shared-store.ts'
import type { OwnNames, ValidatorOptions } from './validator-options.ts'
import { listNames } from './wallet/own-names.ts'
import type { PaymentResult } from './wallet/payment-result.ts'
import { createPaymentStore } from './wallet/payment-store.ts'
import { createPayments } from './wallet/payments.ts'
import type { RegistrationParts } from './wallet/registration.ts'
import { cancel, setAutoRenew } from './wallet/renewal.ts'
import { type AtOffset, createWallet } from './wallet/wallet.ts'

export type ValidatorParts = ReturnType<typeof createValidatorParts>

/** @param options.url - Checked, and without trailing slash, as `ledgerUrl`. */
export function createValidatorParts(
  options: ValidatorOptions & { readonly ledgerUrl: string; readonly clock: Clock },
  { reads, names: lookups }: Lookups,
) {
  const { url, ledgerUrl, clock, genesis, timeoutMs = TIMEOUT_MS } = options
  const { random = platformRandom, token = null } = options
  // Browsers refuse a `fetch` that is called as a method of another object.
  const plain = options.fetch ?? ((input, init) => globalThis.fetch(input, init))
  const fetch = tracedFetch(plain, options.traceparent)
  const onOffset = reads.writeFloor.record
  const http = createHttp({ url, ledgerUrl, token, fetch, clock, random, timeoutMs, onOffset })
  const pin = genesis === undefined ? null : { genesis, crypto: options.crypto ?? platformCrypto() }
  const { WebSocket: ofPlatform = null } = globalThis as Pick<ValidatorOptions, 'WebSocket'>
  const { WebSocket = ofPlatform } = options
  const live = WebSocket && { hints: createActivityHints({ WebSocket, url, clock }), random }
  const wallet = createWallet(http)
  const payments = createPayments({
    http,
    wallet,
    names: lookups,
    clock,
    timeoutMs,
    store: createPaymentStore(options.store, () => reads.storeKey('payments'), clock),
    url,
  })
  /** Adds the offset of a result, which clients that share the store include in their reads. */
  const atOffset = async <T>(result: T): Promise<T & AtOffset> => {
    const offset = http.offset()
    await onOffset(offset)
    return { ...result, offset }
  }
  const parts: RegistrationParts = { http, wallet, names: lookups, clock, timeoutMs }
  const names: OwnNames = {
    ...lookups,
    list: (more) => listNames({ http, wallet, names: lookups }, more),
    register: async (input, more) =>
      atOffset(resultOf(await payments.register(input, more), more?.signal)),
    renew: async (name, more) => atOffset(resultOf(await payments.renew(name, more), more?.signal)),
    cancel: (name, more) => cancel(parts, name, more),
    setAutoRenew: (name, isEnabled, more) => setAutoRenew(parts, name, { ...more, isEnabled }),
  }
  return {
    names,
    wallet,
    payments,
    activities: createActivities(reads, live),
    updates: createUpdates({ http, clock, random, url: ledgerUrl, WebSocket }),
    commands: createCommands({ http, clock, url: ledgerUrl }),
    openReader: (shared: SharedStore) =>
      openProxyReader({ http, url, clock, shared, pin, extras: reads.extras }),
  }
}

/** @throws {QuorumscanError} Why the payment is not done. @throws The signal's reason. */
function resultOf<T>(payment: PaymentResult<T>, signal: AbortSignal | undefined): T {
  if (payment.kind === 'done') return payment.result
  signal?.throwIfAborted()
  throw payment.error
}
