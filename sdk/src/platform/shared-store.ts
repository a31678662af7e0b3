/**
 * Values in a store that several clients may share. Changes run one after the other. The values are in memory too, so
 * that a store that hangs or fails delays one lookup and fails none.
 */
import type { Clock } from './clock.ts'
import { inTime } from './deadline.ts'
import type { Store } from './store.ts'

/** How long the store is waited for, once. */
const STORE_MS = 1000

type Change = (value: string | null) => string

export type SharedStore = ReturnType<typeof createSharedStore>

/** @param store - Default: in memory alone. */
export function createSharedStore(store: Store | undefined, clock: Clock) {
  const values = new Map<string, string>()
  let isUnavailable = false
  let isTrying = false

  /** Uses the store unless it hangs or throws. After that no call waits for it until it has answered again. */
  const attempt = async <T>(run: () => Promise<T>, otherwise: () => T): Promise<T> => {
    if (isUnavailable && isTrying) return otherwise()
    isTrying = true
    const trying = run()
    const over = (isAnswered: boolean) => () => {
      isTrying = false
      if (isAnswered) isUnavailable = false
    }
    trying.then(over(true), over(false))
    if (isUnavailable) return otherwise()
    try {
      return await inTime(clock, STORE_MS, trying)
    } catch {
      isUnavailable = true
      return otherwise()
    }
  }

  const joins = new Map<string, Change>()
  store?.onChange?.((key) => {
    const join = joins.get(key)
    if (join !== undefined) void update(key, join)
  })

  /** The stored value, or the last known one if the store does not answer. null: never set. */
  const get = (key: string): Promise<string | null> => {
    const known = () => values.get(key) ?? null
    if (store === undefined) return Promise.resolve(known())
    return attempt(async () => {
      const value = await store.get(key)
      if (typeof value !== 'string') return known()
      values.set(key, value)
      return value
    }, known)
  }

  /**
   * Changes a value, while no other client of the store does. `change` must be idempotent.
   *
   * @param join - Merges values that another tab overwrote from an older copy. It leaves a complete value as it is.
   */
  const update = (key: string, change: Change, join?: Change): Promise<void> => {
    if (join !== undefined) joins.set(key, join)
    const updateMemory = () => {
      values.set(key, change(values.get(key) ?? null))
    }
    if (store === undefined) return Promise.resolve(updateMemory())
    const updateStore = async () => {
      const stored = await store.get(key)
      const value = change(stored ?? values.get(key) ?? null)
      values.set(key, value)
      if (value !== stored) await store.set(key, value)
    }
    // A change is repeated if it may not have been stored. A store that hangs does not block other clients.
    const write = async () => withLock(key, () => inTime(clock, STORE_MS, updateStore()))
    return attempt(write, updateMemory)
  }

  return { get, update }
}

/** One shared value as JSON; `first` if none can be read. */
export function sharedValue<T>(
  shared: SharedStore,
  key: string,
  options: {
    readonly first: T
    /** Merges two values. Default: the newer one. */
    merge?(stored: T, value: T): T
  },
) {
  const { first, merge = (_, value) => value } = options
  const parse = (text: string | null): T => {
    try {
      return JSON.parse(text ?? 'null') ?? first
    } catch {
      return first
    }
  }
  return {
    load: async (): Promise<T> => merge(first, parse(await shared.get(key))),
    save(value: T) {
      const change = (text: string | null) => JSON.stringify(merge(parse(text), value))
      // Without a merge, two tabs would restore their own values for ever.
      return shared.update(key, change, options.merge && change)
    },
  }
}

/** The last change of each key in this program, for platforms without locks. */
const lastByKey = new Map<string, Promise<void>>()

/** The part of the Web Locks API that is used here. */
type WithLocks = {
  /** null in happy-dom. */
  readonly locks?: { request(name: string, run: () => Promise<void>): Promise<void> } | null
}

/** Runs while no other change of this key does, in other tabs and workers of the page either. */
function withLock(key: string, run: () => Promise<void>): Promise<void> {
  const { locks } = (globalThis as { readonly navigator?: WithLocks | null }).navigator ?? {}
  if (locks) return locks.request(key, run)
  const running = (lastByKey.get(key) ?? Promise.resolve()).then(run, run)
  lastByKey.set(key, running)
  return running
}
