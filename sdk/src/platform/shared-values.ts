/** Values of a client, in memory or in a store that several clients share (`shared-store.ts`). */
import type { QuorumscanError } from '../errors.ts'
import { parseJson } from './parse-json.ts'

/** @throws If the stored value is damaged: it is then not changed. */
export type Change = (value: string | null) => string

export type SharedStore = {
  /**
   * The stored value, or the last known one if the store has lost it. null: never set.
   *
   * @param check - Throws if the value is damaged.
   * @throws {QuorumscanError} STORE_UNAVAILABLE.
   */
  get(key: string, check?: (value: string) => unknown): Promise<string | null>
  /**
   * Changes a value, while no other client of the store does. `change` must be idempotent.
   *
   * @param join - Merges values that another tab overwrote from an older copy. It leaves a complete value as it is.
   * @throws {QuorumscanError} STORE_UNAVAILABLE.
   */
  update(key: string, change: Change, join?: Change): Promise<void>
  /** Why a value cannot be read or written now; null: all can. */
  failure(): QuorumscanError | null
}

/** Values in memory alone. */
export function createMemoryValues(): SharedStore {
  const values = new Map<string, string>()
  return {
    get: async (key) => values.get(key) ?? null,
    async update(key, change) {
      values.set(key, change(values.get(key) ?? null))
    },
    failure: () => null,
  }
}

/** One shared value as JSON. */
export function sharedValue<T>(
  shared: SharedStore,
  key: string,
  options: {
    /** The value before any was stored. Also in place of a damaged one, unless `isValid` is given. */
    readonly first: T
    /** Merges two values. Default: the newer one. */
    merge?(stored: T, value: T): T
    /** Whether the parsed value can be used. Any other one is damaged: it is neither ignored nor replaced. */
    isValid?(value: unknown): boolean
  },
) {
  const { first, merge = (_, value) => value, isValid } = options
  const parse = (text: string | null): T => {
    if (text === null) return first
    const value = parseJson(text) // Undefined, which no check accepts, if it is not JSON.
    if (isValid?.(value) === false) throw new TypeError('its value is damaged')
    return (value as T) ?? first
  }
  return {
    /** @throws {QuorumscanError} STORE_UNAVAILABLE. */
    load: async (): Promise<T> => merge(first, parse(await shared.get(key, parse))),
    /** A failure is known by `failure` of the store alone. */
    async save(value: T): Promise<void> {
      const change = (text: string | null) => JSON.stringify(merge(parse(text), value))
      // Without a merge, two tabs would restore their own values for ever.
      await shared.update(key, change, options.merge && change).catch(() => {})
    },
  }
}
