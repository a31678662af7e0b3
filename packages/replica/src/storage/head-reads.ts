/** Reads of one moment: what is stored, with the bytes of the head that it belongs to. */
import { execute } from '@quorumscan/redis'
import type { ChainableCommander, Redis } from 'ioredis'
import { HEAD_FIELD, KEYS } from './keys.ts'

/** Null where Redis holds no replica. */
export function readHeadBytes(redis: Redis): Promise<Buffer | null> {
  return redis.hgetBuffer(KEYS.names, HEAD_FIELD)
}

/** The replies to the commands that `build` adds, as Redis types them. */
export async function readWithHead<Replies extends unknown[]>(
  redis: Redis,
  build: (transaction: ChainableCommander) => void,
): Promise<{ readonly head: Buffer | null; readonly replies: Replies }> {
  const transaction = redis.multi().hgetBuffer(KEYS.names, HEAD_FIELD)
  build(transaction)
  const [head, ...replies] = (await execute(transaction)) as [Buffer | null, ...Replies]
  return { head, replies }
}
