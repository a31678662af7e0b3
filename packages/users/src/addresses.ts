/**
 * The last known signed addresses of the scan nodes, so that the proxy finds them after a restart though
 * every configured seed is gone (D-34). Kept as text: only the reader can tell whether a record is genuine.
 */
import type { Redis } from 'ioredis'
import { reach } from './connection.ts'
import { KEYS } from './keys.ts'

/** Every method throws DEPENDENCY_UNAVAILABLE if Redis is away. */
export interface Addresses {
  /** What was saved last, or null. */
  load(): Promise<string | null>
  save(text: string): Promise<void>
}

export function createAddresses(redis: Redis, genesisHash: string): Addresses {
  return {
    load: () => reach(redis.hget(KEYS.addresses, genesisHash)),
    async save(text) {
      await reach(redis.hset(KEYS.addresses, genesisHash, text))
    },
  }
}
