/**
 * Code that resolving a name does not need: the other lookups, activities, and error messages. `createScan` loads it
 * on demand.
 */
export { checkGenesis } from './checked-genesis.ts'
export { tracedFetch } from './http/traced-fetch.ts'
export { readEntriesPage, retryLookups } from './names/asking.ts'
export { nameChanges, requireAccepted, seenNamesFull } from './names/name-changes.ts'
export { createOtherLookups } from './names/other-lookups.ts'
export { nameExpired, outcomeError, ownError } from './names/outcome-error.ts'
export { parseName } from './names/parse-name.ts'
export { createWriterOffset } from './names/writer.ts'
export { createOtherReads } from './other-reads.ts'
export { announceAccepted } from './platform/page.ts'
export { checkTrust } from './platform/trust.ts'
