/** Atomic reads of stored data together with the head that it belongs to. */
import { execute } from '@quorumscan/redis'
import type { ChainableCommander, Redis } from 'ioredis'
import { HEAD_FIELD, KEYS } from './keys.ts'

/** The stored bytes of the head; null if Redis holds no replica. */
export function readHeadBytes(redis: Redis): Promise<Buffer | null> {
  return redis.hgetBuffer(KEYS.names, HEAD_FIELD)
}

/** Runs the commands that `build` adds in one transaction with a read of the head. */
export async function readWithHead<Replies extends unknown[]>(
  redis: Redis,
  build: (transaction: ChainableCommander) => void,
): Promise<{ readonly head: Buffer | null; readonly replies: Replies }> {
  const transaction = redis.multi().hgetBuffer(KEYS.names, HEAD_FIELD)
  build(transaction)
  const [head, ...replies] = (await execute(transaction)) as [Buffer | null, ...Replies]
  return { head, replies }
}
