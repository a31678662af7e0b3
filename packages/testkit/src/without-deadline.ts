const FAR_MS = 600_000

/**
 * A clock by which one deadline never comes, for tests of what is told shortly before it: a machine may stand still for
 * the moment between.
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
