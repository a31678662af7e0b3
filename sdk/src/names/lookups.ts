/** What the lookups of a client share with its other reads. Loaded with the first of them. */
import { createNames } from './names.ts'
import { createReads } from './reads.ts'

export type Lookups = ReturnType<typeof createLookups>

export function createLookups(options: Parameters<typeof createReads>[0]) {
  const reads = createReads(options)
  return { reads, names: createNames(reads, options.client) }
}
