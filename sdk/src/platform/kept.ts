/**
 * What clients keep in a store that they may share: read and written one after the other, and in memory, too, so
 * that a store which hangs or fails costs one wait, and never a lookup.
 */
import type { Clock } from './clock.ts'
import { inTime } from './deadline.ts'
import type { Store } from './store.ts'

/** So long a store is waited for, once; what it would have said by then is not worth more. */
const STORE_MS = 1000

type Change = (value: string | null) => string

export interface Kept {
  /** As it is stored; what this client last knew where the store does not say. null: never set. */
  get(key: string): Promise<string | null>
  /**
   * Changes a value: nobody else who shares the store does so meanwhile. A change made twice is that made once.
   *
   * @param join - Puts back what is missing where another tab, which saw this one's writes a moment late, has written
   *   over them; what lacks nothing it leaves as it is.
   */
  update(key: string, change: Change, join?: Change): Promise<void>
}

/** @param store - Default: in memory alone. */
export function createKept(store: Store | undefined, clock: Clock): Kept {
  const values = new Map<string, string>()
  let isAway = false
  let isTrying = false

  /** Of the store, unless it hangs or throws: then nobody waits for it until it has answered again. */
  const attempt = async <T>(run: () => Promise<T>, otherwise: () => T): Promise<T> => {
    if (isAway && isTrying) return otherwise()
    isTrying = true
    const trying = run()
    const over = (isAnswered: boolean) => () => {
      isTrying = false
      if (isAnswered) isAway = false
    }
    trying.then(over(true), over(false))
    if (isAway) return otherwise()
    try {
      return await inTime(clock, STORE_MS, trying)
    } catch {
      isAway = true
      return otherwise()
    }
  }

  const joins = new Map<string, Change>()
  store?.onChange?.((key) => {
    const join = joins.get(key)
    if (join !== undefined) void kept.update(key, join)
  })

  const kept: Kept = {
    get(key) {
      const known = () => values.get(key) ?? null
      if (store === undefined) return Promise.resolve(known())
      return attempt(async () => {
        const value = await store.get(key)
        if (typeof value !== 'string') return known()
        values.set(key, value)
        return value
      }, known)
    },
    update(key, change, join) {
      if (join !== undefined) joins.set(key, join)
      const here = () => {
        values.set(key, change(values.get(key) ?? null))
      }
      if (store === undefined) return Promise.resolve(here())
      const there = async () => {
        const stored = await store.get(key)
        const value = change(stored ?? values.get(key) ?? null)
        values.set(key, value)
        if (value !== stored) await store.set(key, value)
      }
      // A change is repeated where it may not have been stored; and a store that hangs keeps nobody else out.
      return attempt(() => alone(key, () => inTime(clock, STORE_MS, there())), here)
    },
  }
  return kept
}

/** One value that clients share, as JSON; `first` where there is none that can be read. */
export function keptValue<T>(
  kept: Kept,
  key: string,
  options: {
    readonly first: T
    /** What is kept of two. Default: the newer one. */
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
    load: async (): Promise<T> => merge(first, parse(await kept.get(key))),
    save(value: T) {
      const change = (text: string | null) => JSON.stringify(merge(parse(text), value))
      // Of two values that do not merge each would be put back for ever.
      return kept.update(key, change, options.merge && change)
    },
  }
}

/** What is done one after the other in this program, by key, where tabs and workers have no locks. */
const lastByKey = new Map<string, Promise<void>>()

/** Of the Web Locks API. */
type WithLocks = {
  readonly locks?: { request(name: string, run: () => Promise<void>): Promise<void> }
}

/** Runs while nobody else does with this key, in other tabs and workers of the page either. */
function alone(key: string, run: () => Promise<void>): Promise<void> {
  const { locks } = (globalThis as { readonly navigator?: WithLocks }).navigator ?? {}
  if (locks !== undefined) return locks.request(key, run)
  const running = (lastByKey.get(key) ?? Promise.resolve()).then(run, run)
  lastByKey.set(key, running)
  return running
}
