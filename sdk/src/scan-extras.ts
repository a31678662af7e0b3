/**
 * Code that resolving a name does not need: the other lookups, activities, and error messages. `createScan` loads it
 * on demand.
 */
import { createActivities } from './activities/activities.ts'
import { checkGenesis } from './checked-genesis.ts'
import { readEntriesPage, retryLookups } from './names/asking.ts'
import { nameChanges, seenNamesFull, settleChange } from './names/name-changes.ts'
import { createOtherLookups } from './names/other-lookups.ts'
import { nameExpired, outcomeError, ownError } from './names/outcome-error.ts'
import { parseName } from './names/parse-name.ts'
import { createWriterOffset } from './names/writer.ts'

export const scanExtras = {
  checkGenesis,
  createActivities,
  createOtherLookups,
  createWriterOffset,
  nameChanges,
  nameExpired,
  outcomeError,
  ownError,
  parseName,
  readEntriesPage,
  retryLookups,
  seenNamesFull,
  settleChange,
}
export type LoadScanExtras = () => Promise<typeof scanExtras>
