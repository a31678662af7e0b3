/**
 * The restart policy of child processes. Restarts a process that exited unexpectedly: after a short pause the first time,
 * then with exponential back-off until it has run for a while. It knows nothing about the processes.
 */
import { backoffMs, type Clock, held } from '@quorumscan/base'
import { messageOf } from './command-error.ts'

/** Consecutive exits after which nothing should wait for the process. */
const CRASH_LOOP_COUNT = 3

/** A process that ran for this multiple of `maxMs` starts with the shortest pause again. */
const STABLE_FACTOR = 1.5

type RestartPolicy = { readonly minMs: number; readonly maxMs: number; readonly factor?: number }

export type ProcessRestarts = ReturnType<typeof keepRunning>

/** Disposing stops all restarts, and waits for starts in progress. */
export function keepRunning(options: {
  readonly clock: Clock
  readonly policy: RestartPolicy
  /** Starts the process unless it runs, or must not run. A rejection counts as an exit. */
  readonly start: (id: string) => Promise<void>
  /** Receives each exit, and the pause until the next start. */
  readonly onExit: (id: string, how: string, delayMs: number) => void
}) {
  const { clock, policy } = options
  const closing = new AbortController()
  const { signal } = closing
  type ExitRecord = { readonly count: number; startedMs: number; readonly how: string }
  const exitById = held(
    { owner: 'runtime', name: 'exits of processes', kind: 'state', bound: 'one of each process' },
    new Map<string, ExitRecord>(),
  )
  const starting = held(
    { owner: 'runtime', name: 'processes that start', kind: 'work', bound: 'one of each process' },
    new Set<Promise<void>>(),
  )

  /** Null if it has run long enough since. */
  const recent = (id: string): ExitRecord | null => {
    const exit = exitById.get(id)
    return exit !== undefined && clock.monotonicMs() - exit.startedMs < STABLE_FACTOR * policy.maxMs
      ? exit
      : null
  }
  const startNow = async (id: string, exit: ExitRecord | null): Promise<void> => {
    await options.start(id)
    if (exit !== null) exit.startedMs = clock.monotonicMs()
  }
  const follow = (id: string, start: Promise<void>): void => {
    const started = start
      .catch((error: unknown) => recordExit(id, messageOf(error)))
      .finally(() => starting.delete(started))
    starting.add(started)
  }
  /** The process exited unexpectedly. Returns at once. */
  const recordExit = (id: string, how: string): void => {
    if (signal.aborted) return
    const count = (recent(id)?.count ?? 0) + 1
    const exit: ExitRecord = { count, startedMs: clock.monotonicMs(), how }
    exitById.set(id, exit)
    const delayMs = backoffMs(count, policy)
    options.onExit(id, how, delayMs)
    const start = clock.delay(delayMs, signal).then(() => startNow(id, exit))
    follow(id, start)
  }

  return {
    /** Starts the process for the first time, at once. */
    begin: (id: string): void => follow(id, startNow(id, null)),
    recordExit,
    /** How it exited; null if it did not, or has run long enough since. */
    exitOf: (id: string): string | null => recent(id)?.how ?? null,
    /** Whether its consecutive exits reached the limit, so that nothing should wait for it. */
    isCrashLooping: (id: string): boolean => (recent(id)?.count ?? 0) >= CRASH_LOOP_COUNT,
    /** Resets the exits of a process that was stopped or started on purpose. */
    forget(id: string): void {
      exitById.delete(id)
    },
    async [Symbol.asyncDispose](): Promise<void> {
      closing.abort(new Error('everything is being stopped'))
      await Promise.all(starting)
    },
  }
}
