/**
 * The restart policy of child processes. Restarts a process that exited unexpectedly: after a short pause the first time,
 * then with exponential back-off until it has run for a while. Knows nothing about what it restarts.
 */
import { backoffMs, type Clock } from '@quorumscan/base'
import { messageOf } from './command-error.ts'

/** Exits in a row after which nothing should wait for the process. */
const HOPELESS_COUNT = 3

export type RestartPolicy = {
  readonly minMs: number
  readonly maxMs: number
  readonly factor?: number
  /** A process that ran this long starts with the shortest pause again. Longer than `maxMs`. */
  readonly lastedMs: number
}

/** Disposing restarts nothing more, and waits for starts under way. */
export type KeptProcesses = AsyncDisposable & {
  /** Starts the process for the first time, at once. */
  begin(id: string): void
  /** The process exited unexpectedly. Returns at once. */
  noteEnd(id: string, how: string): void
  /** How it ended; null if it never did, or has lasted since. */
  endOf(id: string): string | null
  /** Whether it exited so often in a row that nothing should wait for it. */
  isHopeless(id: string): boolean
  /** What was stopped or started on purpose has no exits behind it. */
  forget(id: string): void
}

export function keepRunning(options: {
  readonly clock: Clock
  readonly policy: RestartPolicy
  /** Starts the process unless it runs, or is not to run. A rejection counts as an exit. */
  readonly start: (id: string) => Promise<void>
  /** Receives each exit, and the pause until the next start. */
  readonly onEnd: (id: string, how: string, delayMs: number) => void
}): KeptProcesses {
  const { clock, policy } = options
  const closing = new AbortController()
  const { signal } = closing
  type Kept = { readonly count: number; startedMs: number; readonly how: string }
  const keptById = new Map<string, Kept>()
  const starting = new Set<Promise<void>>()

  /** Null where it has lasted since. */
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
    begin: (id) => follow(id, startNow(id, null)),
    noteEnd,
    endOf: (id) => recent(id)?.how ?? null,
    isHopeless: (id) => (recent(id)?.count ?? 0) >= HOPELESS_COUNT,
    forget: (id) => {
      keptById.delete(id)
    },
    async [Symbol.asyncDispose]() {
      closing.abort(new Error('everything is being stopped'))
      await Promise.all(starting)
    },
  }
}
