/**
 * The reader that `createScan` loads with the first lookup, so that a page that shows no name yet has not
 * loaded it; and that loads in turn what a lookup that gets its answer does without.
 */
import { createLeanReader } from '@quorumscan/consensus'
import { openReader, type ScanReader } from './open-reader.ts'

export const open: ScanReader['open'] = (parts) =>
  openReader(parts, (options) => createLeanReader(options))
