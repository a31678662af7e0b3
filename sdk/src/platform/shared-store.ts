/**
 * Values in a store that several clients may share. Changes run one after the other. Loaded by clients that have a store.
 *
 * A store that fails, hangs, or returns what the SDK has not written, fails the calls that need it: without its values a
 * change of owner would not be detected. A client that is told of failures continues with the values in memory instead.
 */
import { type QuorumscanError, transient } from '../errors.ts'
import type { Clock } from './clock.ts'
import { inTime } from './clock.ts'
import type { Change, SharedStore } from './shared-values.ts'
import type { Store } from './store.ts'

/**
 * How long the store is waited for if calls fail without it: less than a call lasts, and longer than a file is locked by a
 * process that has ended, or a busy disk needs to write.
 */
export const STORE_MS = 8000
/** The same if calls continue without the store. */
export const OPTIONAL_STORE_MS = 1000

/**
 * @param onFailure - Called when a value cannot be read or written, once until it can be again. With it no call fails.
 */
export function createSharedStore(
  store: Store,
  clock: Clock,
  onFailure?: (error: QuorumscanError) => void,
): SharedStore {
  const values = new Map<string, string>()
  /** A call does not wait while an earlier one waits for longer than this. */
  const waitMs = onFailure === undefined ? STORE_MS : OPTIONAL_STORE_MS
  /** The failures to read and to write each value, until that succeeds again. */
  const failures = new Map<string, QuorumscanError>()
  /** Why no call waits for the store now; null: it answers. */
  let hanging: QuorumscanError | null = null
  let hasKept = false

  const fail = (what: string, cause: unknown): QuorumscanError => {
    const why = cause instanceof Error ? cause.message : String(cause)
    const message = `The store failed to ${what}: ${why}. A change of owner may remain undetected; repair the store, or pass \`onStoreFailure\` to continue without it.`
    const error = transient('STORE_UNAVAILABLE', message, { cause })
    const isKnown = failures.has(what)
    failures.set(what, error)
    if (!isKnown) onFailure?.(error)
    return error
  }

  /**
   * Uses the store.
   *
   * @param run - Passes the use of the store alone, without waiting for other clients, to its parameter.
   * @throws {QuorumscanError} STORE_UNAVAILABLE if the store fails and no `onFailure` is passed.
   */
  const attempt = async <T>(
    what: `${'read' | 'write'} ${string}`,
    run: (use: <Used>(used: Promise<Used>) => Promise<Used>) => Promise<T>,
    otherwise: () => T,
  ): Promise<T> => {
    const refuse = (error: QuorumscanError): T => {
      if (onFailure === undefined) throw error
      return otherwise()
    }
    if (hanging !== null) return refuse(hanging)
    let isOver = false
    const over = () => {
      isOver = true
      hanging = null
    }
    try {
      return await inTime(
        clock,
        waitMs,
        run((used) => {
          used.then(() => {
            over()
            failures.delete(what)
          }, over)
          return used
        }),
      )
    } catch (cause) {
      const error = fail(what, isOver ? cause : new Error('it does not answer'))
      if (!isOver) hanging = error
      return refuse(error)
    }
  }

  const joins = new Map<string, Change>()
  store.onChange?.((key) => {
    const join = joins.get(key)
    // Its failure is known by `failure` and `onFailure`.
    if (join !== undefined) update(key, join).catch(() => {})
  })

  const read = async (from: Store, key: string): Promise<string | null> => {
    const value: unknown = await from.get(key)
    if (typeof value === 'string') return value
    if (value === null || value === undefined) return null
    throw new TypeError('it returns a value that is no string')
  }

  /** The last known value if the store has lost it. */
  const get = async (key: string, check?: (value: string) => unknown): Promise<string | null> => {
    const known = () => values.get(key) ?? null
    const reading = async () => {
      const value = await read(store, key)
      if (value === null) return known()
      check?.(value)
      values.set(key, value)
      return value
    }
    return attempt(`read ${key}`, (use) => use(reading()), known)
  }

  const update = async (key: string, change: Change, join?: Change): Promise<void> => {
    if (join !== undefined) joins.set(key, join)
    const updateMemory = () => {
      values.set(key, change(values.get(key) ?? null))
    }
    const updateStore = async () => {
      const stored = await read(store, key)
      const value = change(stored ?? values.get(key) ?? null)
      if (value !== stored) {
        await store.set(key, value)
        if (!hasKept && (await read(store, key)) === null) throw new Error('it keeps no value')
        hasKept = true
      }
      values.set(key, value)
      failures.delete(`read ${key}`)
    }
    // A change is repeated if it may not have been stored. A store that hangs does not block other clients.
    return attempt(
      `write ${key}`,
      (use) => withLock(store, key, () => inTime(clock, waitMs, use(updateStore()))),
      updateMemory,
    )
  }

  return {
    get,
    update,
    failure: () => [...failures.values()][0] ?? null,
  }
}

/** The last change of each key in this program, for platforms without locks. */
const lastByKey = new Map<string, Promise<void>>()

/** The part of the Web Locks API that is used here. */
type WithLocks = {
  /** null in happy-dom. */
  readonly locks?: { request(name: string, run: () => Promise<void>): Promise<void> } | null
}

/** Runs while no other change of this key does, in other tabs, workers and processes either. */
function withLock(store: Store, key: string, change: () => Promise<void>): Promise<void> {
  const run = () => store.exclusively?.(change) ?? change()
  const { locks } = (globalThis as { readonly navigator?: WithLocks | null }).navigator ?? {}
  if (locks) return locks.request(key, run)
  const running = (lastByKey.get(key) ?? Promise.resolve()).then(run, run)
  lastByKey.set(key, running)
  return running
}
