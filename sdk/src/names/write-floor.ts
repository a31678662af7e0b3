/** Stored values of a client, and its write floor. A validator needs no more of reads to record what it has written. */
import type { Clock } from '../platform/clock.ts'
import { createMemoryValues, type SharedStore, sharedValue } from '../platform/shared-values.ts'
import { storeKey } from '../platform/store-key.ts'

export type Stored = {
  readonly shared: SharedStore
  readonly writeFloor: ReturnType<typeof createWriteFloor>
}

/**
 * @param store - null: the client has none.
 * @param network - The genesis hash: all clients of a network share the write floor. Not called without a store.
 */
export function createStored(
  store: SharedStore | null,
  clock: Clock,
  network: () => Promise<string>,
): Stored {
  const shared = store ?? createMemoryValues()
  const key = async () => (store === null ? 'written' : storeKey(await network(), 'written'))
  return { shared, writeFloor: createWriteFloor(shared, key, clock) }
}

/** An offset that a client of the store has written or seen. */
type Mark = { readonly offset: number; readonly atMs: number }

const NOTHING_WRITTEN: Mark = { offset: 0, atMs: 0 }

/** How long an offset is a lower bound of reads. After this time no answer is older by default (D-39). */
const FLOOR_MS = 60_000

/**
 * The write floor: the newest offset that clients of the store have written or seen, so that reads include it.
 *
 * @param key - The key of the network in the store. Clients with the same key share the floor.
 */
export function createWriteFloor(shared: SharedStore, key: () => Promise<string>, clock: Clock) {
  const nowMs = () => clock.nowMicros() / 1000
  const isFresh = (mark: Mark) =>
    Number.isSafeInteger(mark?.offset) && Math.abs(nowMs() - mark.atMs) < FLOOR_MS
  const merge = (known: Mark, next: Mark) =>
    isFresh(next) && !(isFresh(known) && known.offset >= next.offset) ? next : known
  const mark = async () => sharedValue(shared, await key(), { first: NOTHING_WRITTEN, merge })
  /** Of this client, by the monotonic clock: it holds also if the clock of the device is set meanwhile. */
  let own: Mark = { offset: 0, atMs: Number.NEGATIVE_INFINITY }
  const ownOffset = () => (clock.monotonicMs() - own.atMs < FLOOR_MS ? own.offset : 0)
  /** Of the clients of the store, and of this one. 0: no offset was written or seen recently. */
  const offsets = async (): Promise<readonly number[]> => {
    const stored = await mark()
    // Its failure is known by `failure` of the store, and fails the reads that follow.
    const found = await stored.load().catch(() => NOTHING_WRITTEN)
    return [isFresh(found) ? found.offset : 0, ownOffset()]
  }
  return {
    offsets,
    async record(offset: number): Promise<void> {
      if (offset >= ownOffset()) own = { offset, atMs: clock.monotonicMs() }
      await (await mark()).save({ offset, atMs: nowMs() })
    },
    /** The newest of `offsets`. */
    offset: async (): Promise<number> => Math.max(...(await offsets())),
    /** Forgets what this client has seen from this offset on, so that it remembers lower ones. */
    forget(offset: number): void {
      if (own.offset >= offset) own = { offset: 0, atMs: Number.NEGATIVE_INFINITY }
    },
  }
}
