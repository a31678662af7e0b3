/** Backups of one operator. */
export { writeArchive } from './archive.ts'
export { backUp } from './back-up.ts'
export { deleteOldBackups, newBackupFile } from './backup-directory.ts'
export { readIdentities } from './encryption.ts'
export { type Restored, restore } from './restore.ts'
