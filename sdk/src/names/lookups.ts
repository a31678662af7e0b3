/** Lookups of a client, and what they share with its other reads. Loaded with the first of them. */
import type { Clock } from '../platform/clock.ts'
import { loadPart } from '../platform/load-part.ts'
import type { SharedStore } from '../platform/shared-values.ts'
import { LATER } from '../scan-later.ts'
import { createNames } from './names.ts'
import { type NetworkOptions, openReader } from './open-reader.ts'
import { createReads } from './reads.ts'
import type { ReadsOptions } from './reads-options.ts'
import { createStored } from './write-floor.ts'
import type { Writer } from './writer.ts'

export type Lookups = ReturnType<typeof createLookups>

export function createLookups(options: Omit<Parameters<typeof createReads>[0], 'later'>) {
  const reads = createReads({ ...options, later: LATER })
  return { reads, names: createNames(reads, options.client) }
}

/**
 * Those of `createScan`.
 *
 * @param options - Checked.
 * @param parts.store - null: the client has none.
 * @param parts.signal - Aborts the opening of the reader.
 */
export function createScanLookups(
  options: NetworkOptions & ReadsOptions & { readonly validator?: Writer },
  parts: {
    readonly clock: Clock
    readonly store: SharedStore | null
    readonly signal: AbortSignal
  },
): Lookups {
  const { clock, store, signal } = parts
  const { genesis } = options
  const pinned = typeof genesis === 'string' ? genesis : null
  const stored = createStored(store, clock, async () => pinned ?? lookups.reads.genesisHash())
  const lookups = createLookups({
    client: options,
    clock,
    basis: 'proof',
    network: pinned,
    stored,
    writer: options.validator,
    async open(shared, { extras }) {
      signal.throwIfAborted()
      return openReader({ ...options, clock, shared, extras, signal })
    },
  })
  return lookups
}

/** Loads the reader of a scan proxy, which belongs to the lookups of a validator. */
export const loadProxyReader = () => loadPart(() => import('./proxy-reader.ts'))
