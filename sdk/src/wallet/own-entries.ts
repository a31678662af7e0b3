/** The names of the user that have a subscription. */
import { formatInstant } from '@quorumscan/verifier'
import { isOwnEntriesAnswer } from '../generated/checks.ts'
import type { Http } from '../http/http.ts'
import type { ContractId } from '../platform/contract-id.ts'
import type { CallOptions } from './wallet.ts'

/** A name of the user's own, with its subscription. */
export type OwnEntry = {
  readonly contractId: ContractId
  readonly name: string
  /** What a renewal costs. */
  readonly amount: string
  /** In which unit: `USDUnit`. */
  readonly unit: string
  /** To the millisecond. */
  readonly expiresAt: string
  /** What a payment adds. */
  readonly paymentIntervalMs: number
  /** How long before its end it can be renewed. */
  readonly paymentDurationMs: number
}

/** Those that are live. */
export async function listOwnEntries(http: Http, options: CallOptions = {}): Promise<OwnEntry[]> {
  const { signal, timeoutMs } = options
  const request = { method: 'GET', path: '/v0/entry/all', signal, timeoutMs } as const
  const { entries } = await http.call(request, isOwnEntriesAnswer)
  return entries.map(({ contractId, paymentInterval, paymentDuration, ...entry }) => ({
    ...entry,
    contractId: contractId as ContractId, // It was checked.
    expiresAt: formatInstant(Number(entry.expiresAt) * 1000),
    paymentIntervalMs: Number(paymentInterval) / 1000,
    paymentDurationMs: Number(paymentDuration) / 1000,
  }))
}
