/** Entries as the state has them, and as callers get them. */
import type { CertifiedEntry } from '@quorumscan/consensus/certified'
import type { ContractId } from '../platform/contract-id.ts'
import type { NameEntry } from './lookups.ts'

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
