import { createSystemClock } from '@quorumscan/base'
import type { Command, Redis } from 'ioredis'

/** What a command without a reply fails with. The reply may still come: whether it was done is unknown. */
export const COMMAND_TIMED_OUT = 'Command timed out'

/** A command is given so many ticks, of which no more than one passes while the process stands still. */
const TICKS = 4

const clock = createSystemClock()

/**
 * Fails each command that got no reply for so long, counting the time in which this process ran. ioredis has an
 * option for that which counts by the wall: when a process goes on after a long turn, or after its machine stood
 * still, timers are due before the replies that wait in the socket are read, and a Redis that answered in time
 * would be called dead.
 */
export function limitCommands(redis: Redis, timeoutMs: number): void {
  const send = redis.sendCommand.bind(redis)
  /** In the order of their replies, so those without a timely one stand in front. */
  const waiting = new Set<{ readonly command: Command; ticksLeft: number }>()
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
      // Of a connection that ended, ioredis fails all that waits.
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
