import { createSystemClock, held } from '@quorumscan/base'
import type { Command, Redis } from 'ioredis'

/** The message of a command without a reply. Whether the command took effect is unknown. */
export const COMMAND_TIMED_OUT = 'Command timed out'

/** The ticks of a command. At most one passes while the process is stalled. */
const TICKS = 4

const clock = createSystemClock()

/**
 * Fails each command without a reply for this time, and counts only time in which this process ran. The option of ioredis
 * counts wall-clock time: after a stalled turn of the event loop or a stalled machine, its timers are due before the replies
 * in the socket are read, so that a Redis that answered in time would count as down.
 */
export function limitCommands(redis: Redis, timeoutMs: number): void {
  const send = redis.sendCommand.bind(redis)
  /** Commands without a reply, in the order of their replies, so the oldest are first. */
  const waiting = held(
    {
      owner: 'redis',
      name: 'commands without a reply',
      kind: 'work',
      bound: 'those of the requests in progress',
    },
    new Set<{ readonly command: Command; ticksLeft: number }>(),
  )
  let ended = new AbortController()
  let isWatched = false

  const forgetSettled = () => {
    for (const entry of waiting) {
      if (!entry.command.isSettled) return
      waiting.delete(entry)
    }
  }
  const tick = () => {
    for (const entry of waiting) {
      entry.ticksLeft -= 1
      if (entry.ticksLeft <= 0 && !entry.command.isSettled)
        entry.command.reject(new Error(COMMAND_TIMED_OUT))
    }
    forgetSettled()
  }
  const watch = async () => {
    isWatched = true
    while (waiting.size > 0) {
      // When a connection ends, ioredis fails its pending commands.
      await clock.delay(timeoutMs / TICKS, ended.signal).catch(() => {})
      tick()
    }
    isWatched = false
  }
  redis.on('end', () => {
    ended.abort()
    ended = new AbortController()
  })
  redis.sendCommand = (command, stream) => {
    forgetSettled()
    waiting.add({ command, ticksLeft: TICKS })
    if (!isWatched) void watch()
    return send(command, stream)
  }
}
