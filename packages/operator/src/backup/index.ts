/** Backups of one operator. */
export { writeArchive } from './archive.ts'
export { backUp } from './back-up.ts'
export { type Restored, restore } from './restore.ts'
