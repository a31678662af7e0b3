// Stores for a page, a worker and an extension. A store has two functions, so that one for another platform is as short.
import { createLocalStorageStore, createMemoryStore, type Store } from '@quorumscan/sdk'

/**
 * Pages. All tabs share it, and see each other's changes. Where the browser forbids localStorage, such as in some private
 * windows, nothing is remembered after the page: tell the user.
 */
export function createPageStore(): Store {
  try {
    return createLocalStorageStore()
  } catch {
    return createMemoryStore()
  }
}

/** Pages and workers, also where `localStorage` is missing. A connection that the browser closes is opened again. */
export function createIndexedDbStore(name = 'quorumscan'): Store {
  let database: Promise<IDBDatabase> | undefined
  const forget = () => {
    database = undefined
  }
  const open = async () => {
    const opening = indexedDB.open(name)
    opening.onupgradeneeded = () => opening.result.createObjectStore('values')
    const opened = await resultOf(opening)
    // The browser closes a connection when it lacks space, and when the user deletes the data of the site.
    opened.onclose = forget
    // Another tab waits until this connection is closed.
    opened.onversionchange = () => {
      opened.close()
      forget()
    }
    return opened
  }
  const values = async (mode: IDBTransactionMode) => {
    database ??= open()
    return (await database).transaction('values', mode).objectStore('values')
  }
  /** Tries once more with another connection, because a browser may close one without an event. */
  const using = async <T>(use: () => Promise<T>): Promise<T> => {
    try {
      return await use()
    } catch {
      forget()
      return use()
    }
  }
  return {
    get: (key) => using(async () => (await resultOf((await values('readonly')).get(key))) ?? null),
    set: (key, value) =>
      using(async () => {
        const store = await values('readwrite')
        // `put` succeeds before the value is written; a full disk fails the transaction.
        const written = new Promise<void>((resolve, reject) => {
          store.transaction.oncomplete = () => resolve()
          store.transaction.onabort = () => reject(store.transaction.error)
        })
        store.put(value, key)
        await written
      }),
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
