/** Stores how far a stream was processed. */
import { passing } from '../errors.ts'
import type { Store } from './store.ts'

/**
 * Where a stream continues after a restart. It is written after each page and when the loop ends, so that a crash repeats
 * at most one page. Repeated items have the same ids.
 */
export type Checkpoint = {
  /** For example a file or a database, which survives restarts. */
  readonly store: Store
  /** Unique among the streams of the store. */
  readonly key: string
}

/** @throws {QuorumscanError} Each: STORE_UNAVAILABLE. */
export function createProgress(checkpoint: Checkpoint | undefined) {
  let noted: string | null = null
  return {
    load: (): Promise<string | null> =>
      ofStore(() => checkpoint?.store.get(checkpoint.key) ?? null),
    /** The consumer has processed all items up to the position. */
    note(position: string): void {
      noted = position
    },
    /** Writes the noted position, if it is not written yet. */
    async save(): Promise<void> {
      if (noted === null) return
      const position = noted
      noted = null
      await ofStore(() => checkpoint?.store.set(checkpoint.key, position))
    },
  }
}

async function ofStore<T>(run: () => T | Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (cause) {
    throw passing('STORE_UNAVAILABLE', 'The store of the checkpoint failed.', { cause })
  }
}
