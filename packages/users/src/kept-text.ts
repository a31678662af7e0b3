/**
 * What the scan proxy learned and must still know after a restart, one text per network: the signed
 * addresses of the nodes (D-34), and evidence (D-43). Only the reader can tell what is in it.
 */
import { reach, type StoreConnection } from './connection.ts'

/** Every method throws DEPENDENCY_UNAVAILABLE if Redis is away. */
export interface KeptText {
  /** What was saved last, or null. */
  load(): Promise<string | null>
  save(text: string): Promise<void>
}

export function createKeptText(
  { redis, write }: StoreConnection,
  place: { readonly key: string; readonly genesisHash: string },
): KeptText {
  const { key, genesisHash } = place
  return {
    load: () => reach(redis.hget(key, genesisHash)),
    async save(text) {
      await write(() => redis.hset(key, genesisHash, text))
    },
  }
}
