const FAR_MS = 600_000

/**
 * A clock by which one deadline never comes, for tests of what is reported shortly before it: a machine may stall for
 * that moment.
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
