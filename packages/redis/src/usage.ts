/** What a Redis takes of its machine, for those who watch it. */
import type { RedisAddress } from './address.ts'
import { endConnection } from './connection.ts'
import { openRedis } from './profiles.ts'

export type RedisWatch = ReturnType<typeof watchRedis>

/** Connects in the background, on a connection of its own: what else is asked of Redis does not wait for it. */
export function watchRedis(address: RedisAddress) {
  const redis = openRedis(address, 'usage')
  return {
    /** @throws {Error} While Redis does not answer, or does not let this user ask. */
    async usage() {
      const [info, [, directory] = []] = await Promise.all([
        redis.info(),
        // Whoever runs one elsewhere need not let anybody ask.
        'path' in address ? (redis.config('GET', 'dir') as Promise<string[]>) : [],
      ])
      return {
        memoryBytes: numberIn(info, 'used_memory'),
        /** 0: there is no limit. */
        memoryBytesMax: numberIn(info, 'maxmemory'),
        /** Of the append-only file; 0 where there is none. */
        fileBytes: /^aof_enabled:1\r?$/m.test(info) ? numberIn(info, 'aof_current_size') : 0,
        /** Where it writes, as it names it; empty where that is not on this machine. */
        directory: directory ?? '',
      }
    },
    [Symbol.asyncDispose]: async (): Promise<void> => endConnection(redis),
  }
}

/** @throws {Error} If Redis does not tell it. */
function numberIn(info: string, name: string): number {
  const text = new RegExp(`^${name}:([0-9]+)\\r?$`, 'm').exec(info)?.[1]
  if (text === undefined) throw new Error(`Redis does not tell ${name}`)
  return Number(text)
}
