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
  const restart = async (id: string, kept: Kept, delayMs: number): Promise<void> => {
    try {
      await clock.delay(delayMs, signal)
      await options.start(id)
      kept.startedMs = clock.monotonicMs()
    } catch (error) {
      noteEnd(id, messageOf(error))
    }
  }
  const noteEnd = (id: string, how: string): void => {
    if (signal.aborted) return
    const count = (recent(id)?.count ?? 0) + 1
    const kept: Kept = { count, startedMs: clock.monotonicMs(), how }
    keptById.set(id, kept)
    const delayMs = backoffMs(count, policy)
    options.onEnd(id, how, delayMs)
    const started = restart(id, kept, delayMs).finally(() => starting.delete(started))
    starting.add(started)
  }

  return {
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
