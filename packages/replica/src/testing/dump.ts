/** Everything that Redis holds of a replica, for comparing two of them. */
import type { Redis } from 'ioredis'

const KEY_PATTERN = '{replica}:*'

/** Members by key, in an order of their own, as hex. */
export async function dumpReplica(redis: Redis): Promise<Record<string, readonly string[]>> {
  const hex = (values: readonly Buffer[]) => values.map((value) => value.toString('hex'))
  const dump: Record<string, readonly string[]> = {}
  for (const key of (await redis.keys(KEY_PATTERN)).sort()) {
    const type = await redis.type(key)
    if (type === 'hash') {
      const fields = await redis.hkeysBuffer(key)
      const values = await redis.hvalsBuffer(key)
      const pairs = fields.map(
        (field, i) => `${field.toString('hex')} ${values[i]?.toString('hex')}`,
      )
      dump[key] = pairs.sort()
    } else if (type === 'zset')
      dump[key] = hex(await redis.zrangeBuffer(key, '0', '-1', 'WITHSCORES'))
    else if (type === 'list') dump[key] = hex(await redis.lrangeBuffer(key, 0, -1))
    else if (type === 'stream')
      dump[key] = (await redis.xrangeBuffer(key, '-', '+')).map(([id, fields]) =>
        hex([id, ...fields]).join(),
      )
    else if (type === 'string') dump[key] = hex([(await redis.getBuffer(key)) ?? Buffer.alloc(0)])
    else throw new Error(`${key} is of no type that a replica has: ${type}`)
  }
  return dump
}
