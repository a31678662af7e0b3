/**
 * Stores of values that survive restarts: the verified floor, node addresses, the last seen party of names, and positions of
 * streams. A store maps strings to strings.
 */
import { invalidArgument } from '../errors.ts'
import { page } from './page.ts'

/** The port of a store, such as a database, a keychain or `AsyncStorage`. Keys are ASCII with less than 200 characters. */
export interface Store {
  /** null: never set. */
  get(key: string): string | null | Promise<string | null>
  /** Replaces the value. Resolves once the value is durable, if the store can ensure that. */
  set(key: string, value: string): void | Promise<void>
  /** Calls the listener when another client, such as another tab, has changed a value. Optional. */
  onChange?(listener: (key: string) => void): void
  /** Runs while no client of another process changes a value by this function. Optional; tabs of a page need none. */
  exclusively?(run: () => Promise<void>): Promise<void>
}

/** A store in memory, which is the default. It loses its values when the process ends. */
export function createMemoryStore(): Store {
  const values = new Map<string, string>()
  return {
    get: (key) => values.get(key) ?? null,
    set: (key, value) => {
      values.set(key, value)
    },
  }
}

/** The members of `localStorage` that the SDK uses. */
export type WebStorage = {
  /** null: never set. */
  getItem(key: string): string | null
  /** @throws If the storage is full or forbidden. */
  setItem(key: string, value: string): void
}

/**
 * A store in the `localStorage` of the page's origin.
 *
 * @example createScan({ ...network, store: createLocalStorageStore() })
 * @param storage - Default: the page's `localStorage`.
 * @throws {QuorumscanError} INVALID_ARGUMENT if the platform has no `localStorage`, or the page may not use it.
 */
export function createLocalStorageStore(storage: WebStorage = pageStorage()): Store {
  return {
    get: (key) => storage.getItem(key),
    set: (key, value) => storage.setItem(key, value),
    onChange(listener) {
      page.addEventListener?.('storage', ({ key }) => listener(String(key)))
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
  throw invalidArgument('This platform has no localStorage: pass one, or another store.', cause)
}
