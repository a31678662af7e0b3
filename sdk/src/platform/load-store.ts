/** Loads the code that shares a store with other clients, which clients without a store do not need. */
import type { ReadsOptions } from '../names/reads-options.ts'
import type { Clock } from './clock.ts'
import { loadPart } from './load-part.ts'
import type { SharedStore } from './shared-values.ts'

/**
 * @returns null: the client has no store.
 * @throws {QuorumscanError} PART_UNAVAILABLE.
 */
export async function loadStore(
  { store, onStoreFailure }: Pick<ReadsOptions, 'store' | 'onStoreFailure'>,
  clock: Clock,
): Promise<SharedStore | null> {
  if (store === undefined) return null
  const { createSharedStore } = await loadPart(() => import('./shared-store.ts'))
  return createSharedStore(store, clock, onStoreFailure)
}
