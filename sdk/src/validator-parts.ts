/**
 * What a client of a validator does once it is used: `createValidator` loads it with the first call that asks the validator,
 * and each of its parts with the first call that needs it.
 */
import type { Activities } from './activities/activities.ts'
import { createHttp, type Http, loadFailures } from './http/http.ts'
import type { Lookups } from './names/lookups.ts'
import type { Stored } from './names/write-floor.ts'
import { READ_TIMEOUT_MS } from './platform/deadline.ts'
import { loadPart, once } from './platform/load-part.ts'
import { platformRandom } from './platform/random.ts'
import type { createLedgerParts } from './validator-ledger.ts'
import type { CheckedOptions } from './validator-options.ts'
import type { createOwnPayments } from './validator-payments.ts'
import { readBalance } from './wallet/balance.ts'
import type { Wallet } from './wallet/wallet.ts'

export type ValidatorParts = Pick<Wallet, 'balance'> & {
  activities(): Promise<Activities>
  readonly http: Http
  wallet(): Promise<Wallet>
  payments(): Promise<ReturnType<typeof createOwnPayments>>
  ledger(): Promise<ReturnType<typeof createLedgerParts>>
}

/** @param lookups - Of the same client, loaded when a part needs them. */
export function createValidatorParts(
  options: CheckedOptions,
  stored: Stored,
  lookups: () => Promise<Lookups>,
): ValidatorParts {
  const http = createValidatorHttp(options, stored)
  const wallet = once(async () => {
    const loading = loadPart(() => import('./wallet/wallet.ts'))
    // Each write needs them.
    const [{ createWallet }] = await Promise.all([loading, loadFailures()])
    return createWallet(http)
  })
  const ledger = once(async () => {
    const { createLedgerParts } = await loadPart(() => import('./validator-ledger.ts'))
    return createLedgerParts({ ...options, http })
  })
  return {
    http,
    balance: (call) => readBalance(http, call),
    wallet,
    payments: once(async () => {
      const loading = loadPart(() => import('./validator-payments.ts'))
      const parts = [loading, wallet(), lookups()] as const
      const [{ createOwnPayments }, own, names] = await Promise.all(parts)
      return createOwnPayments({ ...options, http, wallet: own, lookups: names })
    }),
    ledger,
    activities: once(async () => {
      const [{ reads }, { live }] = await Promise.all([lookups(), ledger()])
      const { createActivities } = await reads.later.lists()
      return createActivities(reads, live)
    }),
  }
}

/** Calls of the validator, whose offsets reads include. */
export function createValidatorHttp(
  options: CheckedOptions,
  { writeFloor }: Pick<Stored, 'writeFloor'>,
): Http {
  const { url, ledgerUrl, clock, timeoutMs = READ_TIMEOUT_MS, token = null } = options
  const { random = platformRandom } = options
  // Browsers refuse a `fetch` that is called as a method of another object.
  const plain = options.fetch ?? ((input, init) => globalThis.fetch(input, init))
  const { traceparent } = options
  const fetchOf = async () => {
    if (traceparent === undefined) return plain
    const { tracedFetch } = await loadPart(() => import('./http/traced-fetch.ts'))
    return tracedFetch(plain, traceparent)
  }
  const onOffset = writeFloor.record
  return createHttp({ url, ledgerUrl, token, fetchOf, clock, random, timeoutMs, onOffset })
}
