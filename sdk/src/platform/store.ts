/**
 * What the SDK remembers over restarts: the floor that reads never fall below, node addresses, the party
 * last seen for a name, and how far a stream was processed. A store maps texts to texts.
 */
import { invalidArgument } from '../errors.ts'
import { page } from './page.ts'

/** Bring your own: a database row, a keychain, `AsyncStorage`. Keys are ASCII and below 200 characters. */
export interface Store {
  /** null: never set. */
  get(key: string): string | null | Promise<string | null>
  /** Replaces what was there. Resolves once a crash cannot lose it, if the store can promise that. */
  set(key: string, value: string): void | Promise<void>
  /** Tells whenever somebody else, in another tab for one, has changed a value, where the store can know. */
  onChange?(hear: (key: string) => void): void
}

/** Forgets when the process ends; the default. */
export function createMemoryStore(): Store {
  const values = new Map<string, string>()
  return {
    get: (key) => values.get(key) ?? null,
    set: (key, value) => {
      values.set(key, value)
    },
  }
}

/** What `localStorage` is, for pages, extensions and tests that have something like it. */
export type WebStorage = {
  /** null: never set. */
  getItem(key: string): string | null
  /** @throws Where the storage is full or forbidden. */
  setItem(key: string, value: string): void
}

/**
 * Keeps values in the page's origin.
 *
 * @param storage - Default: the page's `localStorage`.
 * @throws {QuorumscanError} INVALID_ARGUMENT if there is none, or the page may have none.
 */
export function createLocalStorageStore(storage: WebStorage = pageStorage()): Store {
  return {
    get: (key) => storage.getItem(key),
    set: (key, value) => storage.setItem(key, value),
    onChange(hear) {
      page.addEventListener?.('storage', ({ key }) => hear(String(key)))
    },
  }
}

function pageStorage(): WebStorage {
  let cause: unknown
  try {
    const { localStorage } = globalThis as { localStorage?: WebStorage }
    if (localStorage !== undefined) return localStorage
  } catch (error) {
    cause = error
  }
  throw invalidArgument('There is no localStorage here: pass one, or another store.', cause)
}

/** Keys of one network: two networks in one store do not meet. */
export function storeKey(genesisHash: string, what: string): string {
  return `quorumscan:${genesisHash.slice(0, 16)}:${what}`
}
