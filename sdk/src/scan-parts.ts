/** What a client of scan nodes does once it is used: `createScan` loads it with the first call. */
import type { ReadsOptions } from './names/bounded.ts'
import { createNames } from './names/names.ts'
import { type NetworkOptions, openReader } from './names/open-reader.ts'
import { createReads } from './names/reads.ts'
import type { Writer } from './names/writer.ts'
import { systemClock } from './platform/clock.ts'
import { loadPart } from './platform/load-part.ts'

export type ScanParts = ReturnType<typeof createScanParts>

/** @param options - Checked. @param signal - Aborts the opening of the reader. */
export function createScanParts(
  options: NetworkOptions & ReadsOptions & { readonly validator?: Writer },
  signal: AbortSignal,
) {
  const { genesis, clock = systemClock } = options
  const extras = () => loadPart(() => import('./scan-extras.ts'))
  const reads = createReads({
    client: options,
    clock,
    basis: 'proof',
    network: typeof genesis === 'string' ? genesis : null,
    writer: options.validator,
    async open(shared) {
      signal.throwIfAborted()
      return openReader({ ...options, clock, shared, extras, signal })
    },
    extras,
  })
  return {
    reads,
    names: createNames(reads, options),
    others: async () => (await extras()).createOtherReads(reads),
  }
}
