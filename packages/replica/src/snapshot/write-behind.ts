/**
 * Writes large amounts into a Redis that no reader uses yet: commands are gathered by key, and sent while the next ones
 * are made.
 */
import { execute } from '@quorumscan/redis'
import type { Redis } from 'ioredis'
import { type Command, createGatheredCommands, toRedis } from '../storage/commands.ts'

/** Bytes that are gathered before they are sent: about 30 000 contracts, with about seven members a key. */
const GATHERED_BYTES = 16 * 1024 * 1024
/** Encoded at a stretch: some 10 ms. */
const COMMANDS_AT_ONCE = 500

/** The next call of `flow` or `drain` throws the error of a failed write. */
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
    sending.catch(() => {}) // The next call that waits for it throws.
  }

  return {
    add: gathered.add,
    addWhole: gathered.addWhole,
    /** Sends the gathered commands if they are many; waits while Redis lags. */
    async flow(): Promise<void> {
      if (gathered.bytes() >= GATHERED_BYTES) await flush()
    },
    /** Resolves when all commands are written. */
    async drain(): Promise<void> {
      await flush()
      await sending
    },
  }
}

export type WriteBehind = ReturnType<typeof createWriteBehind>
