/** Entries as the state has them, and as callers get them. */
import type { CertifiedEntry } from '@quorumscan/verifier/certified'
import { type Clock, instantMs } from '../platform/clock.ts'
import type { ContractId } from '../platform/contract-id.ts'
import type { NameEntry } from './lookups.ts'

/**
 * Whether an entry has ended by the caller's clock, whatever the state says that it was read from: somebody else may
 * own the name by now.
 */
export function hasEnded(expiresAt: string | null, clock: Pick<Clock, 'nowMicros'>): boolean {
  return expiresAt !== null && instantMs(expiresAt) * 1000 <= clock.nowMicros()
}

export function toEntry(entry: CertifiedEntry): NameEntry {
  return {
    name: entry.name,
    party: entry.user,
    url: entry.url,
    description: entry.description,
    expiresAt: entry.expires_at,
    contractId: entry.contract_id as ContractId | null, // As the ledger has it.
  }
}
