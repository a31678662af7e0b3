/**
 * The reader with everything that it may need, for `createScan` where `import()` is not to be had, as in
 * the service worker of an extension.
 */
import { createReader } from '@quorumscan/consensus'
import { checkedGenesis } from './checked-genesis.ts'
import { openReader, type ScanReader } from './open-reader.ts'
import { scanExtras } from './scan-extras.ts'

/** To be passed to `createScan` as `reader`. */
export const scanReader: ScanReader = {
  open: (parts) => openReader(parts, (options) => createReader(options)),
  extras: async () => scanExtras,
  checkGenesis: async (document) => checkedGenesis(document),
}
