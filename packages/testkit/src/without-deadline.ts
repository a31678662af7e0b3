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
