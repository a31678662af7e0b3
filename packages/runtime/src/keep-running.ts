/**
 * The restart policy of child processes. Restarts a process that exited unexpectedly: after a short pause the first time,
 * then with exponential back-off until it has run for a while. It knows nothing about the processes.
 */
import { backoffMs, type Clock } from '@quorumscan/base'
import { messageOf } from './command-error.ts'

/** Consecutive exits after which nothing should wait for the process. */
const HOPELESS_COUNT = 3

export type RestartPolicy = {
  readonly minMs: number
  readonly maxMs: number
  readonly factor?: number
  /** A process that ran this long starts with the shortest pause again. Longer than `maxMs`. */
  readonly lastedMs: number
}

export type KeptProcesses = ReturnType<typeof keepRunning>

/** Disposing stops all restarts, and waits for starts in progress. */
export function keepRunning(options: {
  readonly clock: Clock
  readonly policy: RestartPolicy
  /** Starts the process unless it runs, or must not run. A rejection counts as an exit. */
  readonly start: (id: string) => Promise<void>
  /** Receives each exit, and the pause until the next start. */
  readonly onEnd: (id: string, how: string, delayMs: number) => void
}) {
  const { clock, policy } = options
  const closing = new AbortController()
  const { signal } = closing
  type Kept = { readonly count: number; startedMs: number; readonly how: string }
  const keptById = new Map<string, Kept>()
  const starting = new Set<Promise<void>>()

  /** Null if it has run long enough since. */
  const recent = (id: string): Kept | null => {
    const kept = keptById.get(id)
    return kept !== undefined && clock.monotonicMs() - kept.startedMs < policy.lastedMs
      ? kept
      : null
  }
  const startNow = async (id: string, kept: Kept | null): Promise<void> => {
    await options.start(id)
    if (kept !== null) kept.startedMs = clock.monotonicMs()
  }
  const follow = (id: string, start: Promise<void>): void => {
    const started = start
      .catch((error: unknown) => noteEnd(id, messageOf(error)))
      .finally(() => starting.delete(started))
    starting.add(started)
  }
  /** The process exited unexpectedly. Returns at once. */
  const noteEnd = (id: string, how: string): void => {
    if (signal.aborted) return
    const count = (recent(id)?.count ?? 0) + 1
    const kept: Kept = { count, startedMs: clock.monotonicMs(), how }
    keptById.set(id, kept)
    const delayMs = backoffMs(count, policy)
    options.onEnd(id, how, delayMs)
    follow(
      id,
      clock.delay(delayMs, signal).then(() => startNow(id, kept)),
    )
  }

  return {
    /** Starts the process for the first time, at once. */
    begin: (id: string): void => follow(id, startNow(id, null)),
    noteEnd,
    /** How it exited; null if it did not, or has run long enough since. */
    endOf: (id: string): string | null => recent(id)?.how ?? null,
    /** Whether it exited so many consecutive times that nothing should wait for it. */
    isHopeless: (id: string): boolean => (recent(id)?.count ?? 0) >= HOPELESS_COUNT,
    /** Resets the exits of a process that was stopped or started on purpose. */
    forget(id: string): void {
      keptById.delete(id)
    },
    async [Symbol.asyncDispose](): Promise<void> {
      closing.abort(new Error('everything is being stopped'))
      await Promise.all(starting)
    },
  }
}
