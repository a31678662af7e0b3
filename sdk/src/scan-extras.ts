/**
 * What resolving a name does without: the other lookups, activities, and the words for what goes wrong. `createScan`
 * loads it when it is needed.
 */
import { createActivities } from './activities/activities.ts'
import { nameChanges, seenNamesFull, settleChange } from './names/name-changes.ts'
import { createOtherLookups } from './names/other-lookups.ts'
import { nameExpired, outcomeError, ownError } from './names/outcome-error.ts'
import { parseName } from './names/parse-name.ts'
import { retryLookups } from './names/retry-lookups.ts'
import { readEntriesPage } from './names/scan-pages.ts'
import { watchName } from './names/watch.ts'

export const scanExtras = {
  createOtherLookups,
  createActivities,
  nameChanges,
  seenNamesFull,
  settleChange,
  parseName,
  nameExpired,
  outcomeError,
  retryLookups,
  ownError,
  readEntriesPage,
  watchName,
}
export type LoadScanExtras = () => Promise<typeof scanExtras>
