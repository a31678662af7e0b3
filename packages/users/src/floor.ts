/** The highest offset that the scan proxy's reader verified: its reads never go back, across restarts (D-39). */
import type { Offset } from '@quorumscan/model'
import { reach, type StoreConnection } from './connection.ts'
import { KEYS } from './keys.ts'

export interface Floor {
  /** 0 when nothing was verified yet. */
  load(): Promise<Offset>
  /**
   * Writes in the background; while a write is under way only the highest of the others is remembered.
   * A write that fails is left to the next one: a floor that is too low is safe, only less fresh.
   */
  save(offset: Offset): void
  /** Resolves when nothing is left to write. */
  flush(): Promise<void>
}

export function createFloor({ redis, write: keep }: StoreConnection, genesisHash: string): Floor {
  let highest = 0
  let written = 0
  let writing: Promise<void> | null = null
  const write = async () => {
    while (written < highest) {
      const offset = highest
      await keep(() => redis.hset(KEYS.floors, genesisHash, String(offset))).catch(() => undefined)
      written = offset
    }
    writing = null
  }
  return {
    async load() {
      const stored = Number((await reach(redis.hget(KEYS.floors, genesisHash))) ?? '0')
      highest = Math.max(highest, stored)
      written = Math.max(written, stored)
      return highest
    },
    save(offset) {
      highest = Math.max(highest, offset)
      writing ??= write()
    },
    flush: async () => {
      await writing
    },
  }
}
