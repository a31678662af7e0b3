/** Lists, watches, metadata and activities. Clients load them with the first one. */
export { createActivities } from './activities/activities.ts'
export { createLists } from './names/lists.ts'
export { readEntriesPage } from './names/pages.ts'
export { createOtherReads } from './other-reads.ts'
