/** How far a stream was processed, kept in a store. */
import { passing } from '../errors.ts'
import type { Store } from './store.ts'

/**
 * Where a stream goes on after a restart. It is written when the loop asks for what comes after a page
 * and when it ends, so that a crash repeats at most one page: what comes twice has the same id.
 */
export type Checkpoint = {
  /** That of a file or a database survives restarts. */
  readonly store: Store
  /** Unlike that of every other stream in the store. */
  readonly key: string
}

/** @throws {QuorumscanError} Each: STORE_UNAVAILABLE. */
export function createProgress(checkpoint: Checkpoint | undefined) {
  let noted: string | null = null
  return {
    load: (): Promise<string | null> =>
      ofStore(() => checkpoint?.store.get(checkpoint.key) ?? null),
    /** The consumer is done with everything up to here. */
    note(position: string): void {
      noted = position
    },
    /** Writes what was noted, if it is not written yet. */
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
