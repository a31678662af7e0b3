/** The memory and disk that a Redis uses, for metrics. */
import type { Redis } from 'ioredis'
import type { RedisAddress } from './address.ts'
import { endConnection } from './connection.ts'
import { openRedis } from './profiles.ts'

export type RedisWatch = ReturnType<typeof watchRedis>

/** Uses a connection of its own and connects in the background, so that no other command waits for it. */
export function watchRedis(address: RedisAddress) {
  const redis = openRedis(address, 'usage')
  return {
    /** @throws {Error} While Redis does not answer, or this user may not read it. */
    async usage() {
      const [info, [, directory] = []] = await Promise.all([
        redis.info(),
        // Redis on another machine may not allow the question.
        'path' in address ? (redis.config('GET', 'dir') as Promise<string[]>) : [],
      ])
      return {
        ...memoryIn(info),
        /** The size of the append-only file; 0 without one. */
        fileBytes: /^aof_enabled:1\r?$/m.test(info) ? numberIn(info, 'aof_current_size') : 0,
        /** Its directory; empty if it is on another machine. */
        directory: directory ?? '',
      }
    },
    [Symbol.asyncDispose]: async (): Promise<void> => endConnection(redis),
  }
}

/** @throws {Error} If Redis does not answer. */
export async function readMemory(redis: Redis) {
  return memoryIn(await redis.info('memory'))
}

function memoryIn(info: string) {
  return {
    memoryBytes: numberIn(info, 'used_memory'),
    /** 0: without a limit. */
    memoryBytesMax: numberIn(info, 'maxmemory'),
  }
}

/** @throws {Error} If Redis does not report it. */
function numberIn(info: string, name: string): number {
  const text = new RegExp(`^${name}:([0-9]+)\\r?$`, 'm').exec(info)?.[1]
  if (text === undefined) throw new Error(`Redis does not report ${name}`)
  return Number(text)
}

/** Members of each key that Redis measures. */
const SAMPLES = 64

/** The sum of some keys, estimated from a sample of each; missing keys take nothing. */
export async function estimateBytes(redis: Redis, keys: readonly string[]): Promise<number> {
  const sizes = await Promise.all(keys.map((key) => redis.memory('USAGE', key, 'SAMPLES', SAMPLES)))
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0)
}
