/**
 * What resolving a name does without: the other lookups, activities, receipts, and the words for what goes
 * wrong. `createScan` loads it when it is needed; whoever passes `reader` has it from the start.
 */
import { createReceipt, isDecided, type Outcome, type Receipt } from '@quorumscan/consensus'
import { createActivities } from './activities/activities.ts'
import { createOtherLookups } from './names/other-lookups.ts'
import { outcomeError, ownError } from './names/outcome-error.ts'
import { retryLookups } from './names/retry-lookups.ts'

export type ScanExtras = {
  readonly createOtherLookups: typeof createOtherLookups
  readonly createActivities: typeof createActivities
  readonly outcomeError: typeof outcomeError
  readonly retryLookups: typeof retryLookups
  readonly receiptOf: typeof receiptOf
  readonly ownError: typeof ownError
}
export type LoadScanExtras = () => Promise<ScanExtras>

/** null where the nodes' signatures did not come along. */
function receiptOf(
  outcome: Outcome,
  facts: Pick<Parameters<typeof createReceipt>[0], 'request' | 'genesisHash'>,
): Receipt | null {
  return isDecided(outcome) && outcome.signatures.length >= outcome.threshold
    ? createReceipt({ outcome, ...facts })
    : null
}

export const scanExtras: ScanExtras = {
  createOtherLookups,
  createActivities,
  outcomeError,
  retryLookups,
  receiptOf,
  ownError,
}
