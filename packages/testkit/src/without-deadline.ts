import { createTickingClock } from './ticking-clock.ts'

const FAR_MS = 600_000

/**
 * A clock on which one deadline never passes, for tests of a report that precedes the deadline. On a busy machine the
 * deadline could otherwise pass before the report.
 */
export function withoutDeadline<
  C extends { delay(ms: number, signal?: AbortSignal): Promise<void> },
>(clock: C, deadlineMs: number): C {
  return {
    ...clock,
    delay: (ms: number, signal?: AbortSignal) =>
      clock.delay(ms === deadlineMs ? FAR_MS : ms, signal),
  }
}

/**
 * Options of a client whose reads end with what is known shortly before this deadline. Its clock waits for this process, and
 * the deadline itself never passes, however busy the machine is.
 *
 * @param nowMicros - The wall clock of the client.
 */
export function endingBefore(timeoutMs: number, nowMicros: number) {
  return { timeoutMs, clock: withoutDeadline(createTickingClock(nowMicros), timeoutMs) }
}
