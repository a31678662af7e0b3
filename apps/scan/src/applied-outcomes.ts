/** What the newest entries did, by which a synchronizer charges for those that the state refused (D-95). */
import { held } from '@quorumscan/base'
import type { AppliedEntry, Ledger } from '@quorumscan/ledger'
import type { EntryResult } from '@quorumscan/model'

/** A minute of 60 entries per second, some 1 MiB: synchronizers ask within seconds. */
const REMEMBERED_MAX = 4_096

export function createAppliedOutcomes(ledger: Pick<Ledger, 'onApplied'>) {
  const refusalByHash = held(
    { owner: 'scan', name: 'outcomes of entries', kind: 'cache', bound: REMEMBERED_MAX },
    new Map<string, string | null>(),
  )
  ledger.onApplied(({ entryHash, result }: AppliedEntry) => {
    // Of the same bytes in the log again, the first counts.
    if (result.kind === 'checkpoint' || refusalByHash.has(entryHash)) return
    refusalByHash.set(entryHash, refusalIn(result))
    const [oldest] = refusalByHash.keys()
    if (refusalByHash.size > REMEMBERED_MAX && oldest !== undefined) refusalByHash.delete(oldest)
  })
  return {
    /** Why the entry had no effect, or null; undefined if the node does not know that it was applied. */
    of: (entryHash: string) => refusalByHash.get(entryHash),
  }
}

/** Null: it has an effect. */
export function refusalIn(result: EntryResult): string | null {
  if (result.kind === 'ignored') return result.reason
  return result.kind === 'rejected' ? `${result.code}: ${result.message}` : null
}
