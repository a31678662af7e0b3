/**
 * Writes very much into a Redis that nobody reads yet: commands are gathered by key, and sent while the next ones are
 * made.
 */
import { execute } from '@quorumscan/redis'
import type { Redis } from 'ioredis'
import { type Command, createGatheredCommands, toRedis } from '../storage/commands.ts'

/** Gathered before they are sent: members of some 30 000 contracts, which are seven a key. */
const GATHERED_BYTES = 16 * 1024 * 1024
/** Encoded at a stretch: some 10 ms. */
const COMMANDS_AT_ONCE = 500

/** What fails is told by the `flow` or `drain` that comes next. */
export function createWriteBehind(redis: Redis) {
  const gathered = createGatheredCommands()
  let sending: Promise<void> = Promise.resolve()

  const send = async (commands: readonly Command[]): Promise<void> => {
    for (let start = 0; start < commands.length; start += COMMANDS_AT_ONCE) {
      const pipeline = redis.pipeline()
      for (const [name, key, ...args] of commands.slice(start, start + COMMANDS_AT_ONCE))
        pipeline.call(name, key, ...args.map(toRedis))
      await execute(pipeline)
    }
  }
  const flush = async (): Promise<void> => {
    await sending
    sending = send(gathered.take())
    sending.catch(() => {}) // Whoever waits for it next is told.
  }

  return {
    add: gathered.add,
    addWhole: gathered.addWhole,
    /** Sends what was gathered, if it is much; waits while Redis is behind. */
    async flow(): Promise<void> {
      if (gathered.bytes() >= GATHERED_BYTES) await flush()
    },
    /** Returns when all is written. */
    async drain(): Promise<void> {
      await flush()
      await sending
    },
  }
}

export type WriteBehind = ReturnType<typeof createWriteBehind>
