/** The state that the readers of a network need after a restart. Only the readers interpret it. */
import type { Offset } from '@quorumscan/model'
import { KEYS, reach, type StoreConnection } from './connection.ts'

/** The highest offset that the scan proxy's reader verified: its reads never go back, across restarts (D-39). */
export function createRedisFloorStore(
  { redis, write: store }: StoreConnection,
  genesisHash: string,
) {
  let highest = 0
  let written = 0
  let writing: Promise<void> | null = null
  const write = async () => {
    while (written < highest) {
      const offset = highest
      await store(() => redis.hset(KEYS.floors, genesisHash, String(offset))).catch(() => undefined)
      written = offset
    }
    writing = null
  }
  return {
    /** 0 when nothing was verified yet. */
    async load(): Promise<Offset> {
      const stored = Number((await reach(redis.hget(KEYS.floors, genesisHash))) ?? '0')
      highest = Math.max(highest, stored)
      written = Math.max(written, stored)
      return highest
    },
    /**
     * Writes in the background; while a write is in progress, only the highest of the later offsets is stored.
     * After a failed write, the next one retries: a floor that is too low is safe, only less fresh.
     */
    save(offset: Offset): void {
      highest = Math.max(highest, offset)
      // Two readers save here: one may reach a floor that the other has written.
      if (written < highest) writing ??= write()
    },
    /** Resolves when nothing is left to write. */
    async flush(): Promise<void> {
      await writing
    },
  }
}

/** A text: the signed addresses of the nodes (D-34), evidence (D-43), or the key of the participant. */
export type StoredText = ReturnType<typeof createStoredText>

/** Every method throws DEPENDENCY_UNAVAILABLE if Redis cannot be reached. */
export function createStoredText(
  { redis, write }: StoreConnection,
  place: { readonly key: string; readonly genesisHash: string },
) {
  const { key, genesisHash } = place
  return {
    /** The text that was saved last, or null. */
    load: (): Promise<string | null> => reach(redis.hget(key, genesisHash)),
    async save(text: string): Promise<void> {
      await write(() => redis.hset(key, genesisHash, text))
    },
  }
}
