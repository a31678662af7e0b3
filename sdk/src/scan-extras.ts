/**
 * What resolving a name does without: the other lookups, activities, receipts, and the words for what goes
 * wrong. `createScan` loads it when it is needed; whoever passes `reader` has it from the start.
 */
import {
  createReceipt,
  GenesisError,
  isDecided,
  type Outcome,
  ReaderError,
  type Receipt,
} from '@quorumscan/consensus'
import { createActivities } from './activities/activities.ts'
import { type ErrorCode, QuorumscanError } from './errors.ts'
import { createOtherLookups } from './names/other-lookups.ts'
import { outcomeError } from './names/outcome-error.ts'
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

const READER_CODES: Record<ReaderError['code'], ErrorCode> = {
  INVALID_THRESHOLD: 'INVALID_QUORUM',
  INVALID_ARGUMENT: 'INVALID_ARGUMENT',
  OVERLOADED: 'OVERLOADED',
  CLOSED: 'CLOSED',
  NO_FLOOR: 'STORE_UNAVAILABLE',
}

/** The consensus package's errors as ours; others as they are. */
export function ownError(error: unknown): unknown {
  if (error instanceof ReaderError)
    return new QuorumscanError(`${error.message}.`, {
      code: READER_CODES[error.code],
      definite: true,
      retryable: error.code === 'OVERLOADED' || error.code === 'NO_FLOOR',
      cause: error,
    })
  if (error instanceof GenesisError)
    return new QuorumscanError(
      `${error.message}. Are the seeds reachable, and is the hash that of their network?`,
      { code: 'WRONG_GENESIS', definite: true, retryable: true, cause: error },
    )
  return error
}

export const scanExtras: ScanExtras = {
  createOtherLookups,
  createActivities,
  outcomeError,
  retryLookups,
  receiptOf,
  ownError,
}
