import type { Reader, ReaderOptions } from './reader-options.ts'

/** Creates a reader; nothing is sent before the first read. Dispose it to end what is in flight. */
export function createReader(options: ReaderOptions): Reader {
  throw new RangeError(`no reader for ${options.genesisHash} in this version`)
}
