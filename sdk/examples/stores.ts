// Stores for a page, a worker and an extension. A store has two functions, so that one for another platform is as short.
import { createLocalStorageStore, createMemoryStore, type Store } from '@quorumscan/sdk'

/** Pages. All tabs share it, and see each other's changes. A page in a private window may not use localStorage. */
export function createPageStore(): Store {
  try {
    return createLocalStorageStore()
  } catch {
    return createMemoryStore()
  }
}

/** Pages and workers, also where `localStorage` is missing. */
export function createIndexedDbStore(name = 'quorumscan'): Store {
  let database: Promise<IDBDatabase> | undefined
  const open = () => {
    const opening = indexedDB.open(name)
    opening.onupgradeneeded = () => opening.result.createObjectStore('values')
    return resultOf(opening)
  }
  const values = async (mode: IDBTransactionMode) => {
    database ??= open()
    return (await database).transaction('values', mode).objectStore('values')
  }
  return {
    get: async (key) => (await resultOf((await values('readonly')).get(key))) ?? null,
    set: async (key, value) => {
      await resultOf((await values('readwrite')).put(value, key))
    },
  }
}

function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

/** The part of `chrome.storage` that is used. In an extension, `@types/chrome` declares it. */
declare const chrome: {
  readonly storage: {
    readonly local: {
      get(key: string): Promise<Record<string, unknown>>
      set(values: Record<string, string>): Promise<void>
    }
    readonly onChanged: { addListener(listener: (changes: object) => void): void }
  }
}

/** Pages and the background of an extension, with the permission `storage`. */
export function createChromeStore(): Store {
  const { local, onChanged } = chrome.storage
  return {
    get: async (key) => ((await local.get(key))[key] as string | undefined) ?? null,
    set: (key, value) => local.set({ [key]: value }),
    onChange: (listener) =>
      onChanged.addListener((changes) => {
        for (const key of Object.keys(changes)) listener(key)
      }),
  }
}
