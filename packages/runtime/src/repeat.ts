/** Work that a process does again and again until it stops. docs/architecture.md lists all of it, with its periods. */
import { anySignal, type Clock } from '@quorumscan/base'

/** Disposing ends it, and waits for a run that is under way. */
export type Repetition = AsyncDisposable & {
  /** Resolves when it has ended; rejects with what `onError` throws. */
  readonly ended: Promise<void>
}

/**
 * Runs `work` until the signal aborts, or it is disposed of: at once, and then each time `everyMs` after a run has ended.
 * What a run throws goes to `onError`, and the next run comes all the same. What `onError` throws ends it.
 */
export function repeat(
  work: (signal: AbortSignal) => unknown,
  options: {
    readonly clock: Clock
    /** A function is asked after each run. */
    readonly everyMs: number | (() => number)
    /** Whether the first run comes after a pause, too. */
    readonly waitsFirst?: boolean
    readonly signal?: AbortSignal
    /** Not told of a run that the end cut short. Default: what a run throws is a defect, and ends it. */
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
