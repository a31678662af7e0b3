/** Periodic work of a process. docs/architecture.md lists all of it, with its periods. */
import { anySignal, type Clock } from '@quorumscan/base'

/** Disposing ends it, and waits for a run in progress. */
export type Repetition = AsyncDisposable & {
  /** Resolves when it has ended; rejects with what `onError` throws. */
  readonly ended: Promise<void>
}

/**
 * Runs `work` at once, and again `everyMs` after each run has ended, until the signal aborts or it is disposed of.
 * `onError` receives the error of a run, and the next run follows. An error that `onError` throws ends the repetition.
 */
export function repeat(
  work: (signal: AbortSignal) => unknown,
  options: {
    readonly clock: Clock
    /** A function is called after each run. */
    readonly everyMs: number | (() => number)
    /** Whether a pause precedes the first run. */
    readonly waitsFirst?: boolean
    readonly signal?: AbortSignal
    /** Not called for a run that the end interrupts. Default: an error of a run is a defect, and ends it. */
    readonly onError?: (error: unknown) => void
  },
): Repetition {
  const { clock, everyMs, waitsFirst = false } = options
  const closing = new AbortController()
  const signal =
    options.signal === undefined ? closing.signal : anySignal([options.signal, closing.signal])
  const pause = (): Promise<void> =>
    clock
      .delay(typeof everyMs === 'number' ? everyMs : everyMs(), signal)
      .catch((error: unknown) => {
        if (!signal.aborted) throw error
      })
  const run = async (): Promise<void> => {
    if (waitsFirst) await pause()
    while (!signal.aborted) {
      try {
        await work(signal)
      } catch (error) {
        if (signal.aborted) break
        if (options.onError === undefined) throw error
        options.onError(error)
      }
      await pause()
    }
  }
  const ended = run()
  return {
    ended,
    async [Symbol.asyncDispose]() {
      closing.abort(new Error('closed'))
      await ended
    },
  }
}
