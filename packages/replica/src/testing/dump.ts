/** Everything that Redis holds of a replica, for comparing two of them. */
import type { Redis } from 'ioredis'
import { KEYS } from '../keys.ts'

/** Members by key, in an order of their own, as hex. */
export async function dumpReplica(redis: Redis): Promise<Record<string, readonly string[]>> {
  const hex = (values: readonly Buffer[]) => values.map((value) => value.toString('hex'))
  const dump: Record<string, readonly string[]> = {}
  for (const [name, key] of Object.entries(KEYS)) {
    const type = await redis.type(key)
    if (type === 'hash') {
      const fields = await redis.hkeysBuffer(key)
      const values = await redis.hvalsBuffer(key)
      const pairs = fields.map(
        (field, i) => `${field.toString('hex')} ${values[i]?.toString('hex')}`,
      )
      dump[name] = pairs.sort()
    } else if (type === 'zset')
      dump[name] = hex(await redis.zrangeBuffer(key, '0', '-1', 'WITHSCORES'))
    else if (type === 'list') dump[name] = hex(await redis.lrangeBuffer(key, 0, -1))
    else if (type === 'set') dump[name] = hex(await redis.smembersBuffer(key)).sort()
    else dump[name] = []
  }
  return dump
}
