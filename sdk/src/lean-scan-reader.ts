/**
 * The reader that `createScan` loads with the first lookup, so that a page that shows no name yet has not
 * loaded it; and that loads in turn what a lookup that gets its answer does without.
 */
import { createLeanReader } from '@quorumscan/consensus'
import { scanReaderOf } from './names/open-reader.ts'

export const leanScanReader = scanReaderOf({
  createReader: (options) => createLeanReader(options),
  extras: async () => (await import('./scan-extras.ts')).scanExtras,
  // What was pinned by its hash needs no check.
  checkGenesis: async (...input) => (await import('./checked-genesis.ts')).checkGenesis(...input),
})
