/**
 * The reader with everything that it may need, for `createScan` where `import()` is not to be had, as in
 * the service worker of an extension.
 */
import { createReader } from '@quorumscan/consensus/reader'
import { checkGenesis } from './checked-genesis.ts'
import { type ScanReader, scanReaderOf } from './names/open-reader.ts'
import { scanExtras } from './scan-extras.ts'

/** To be passed to `createScan` as `reader`. */
export const scanReader: ScanReader = scanReaderOf({
  createReader: (options) => createReader(options),
  extras: async () => scanExtras,
  checkGenesis,
})
