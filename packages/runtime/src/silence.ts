/**
 * For how long a process has been silent, in time in which its supervisor ran: while the supervisor itself is stopped or
 * stalls, it hears nothing, and that says nothing about the process (D-88).
 */
import type { Clock } from '@quorumscan/base'

/** The longest silence of a process that works. Its event loop turns many times a second, also while it loads its state. */
export const SILENT_MS_MAX = 60_000
/** How often a supervisor counts the silence. */
export const SILENCE_TICK_MS = 1000

export type Silence = ReturnType<typeof createSilence>

/** @param tickMs - How often the silence is counted. A pause beyond twice this is a stall of the caller. */
export function createSilence(clock: Pick<Clock, 'monotonicMs'>, tickMs = SILENCE_TICK_MS) {
  let silentMs = 0
  let countedMs = clock.monotonicMs()
  return {
    /** The process was heard. */
    end(): void {
      silentMs = 0
    },
    /** Counts the time since the last call. Returns whether the process was silent for too long. */
    count(): boolean {
      const nowMs = clock.monotonicMs()
      silentMs += Math.min(nowMs - countedMs, 2 * tickMs)
      countedMs = nowMs
      return silentMs >= SILENT_MS_MAX
    },
  }
}
