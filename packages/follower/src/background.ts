/** Work that a process does apart from requests, until it stops. */
import { ScanError } from '@quorumscan/errors'
import type { Logger } from '@quorumscan/runtime'

/** Disposing aborts the work and waits for its end. Opened last, so that it ends before what it works with is closed. */
export type Background = AsyncDisposable & {
  /** Resolves with the error of the first work that failed: the process cannot continue without it. */
  readonly failed: Promise<unknown>
  /** Aborts when the process stops: what the work rejects with from then on is no failure. */
  readonly signal: AbortSignal
  /** @param failure - The line of the log if the work rejects before `signal` aborts. */
  run(failure: string, work: Promise<unknown>): void
}

export function createBackground(logger: Logger): Background {
  const closing = new AbortController()
  const running: Promise<unknown>[] = []
  let fail: (error: unknown) => void = () => {}
  const failed = new Promise<unknown>((resolve) => {
    fail = resolve
  })
  return {
    failed,
    signal: closing.signal,
    run(failure, work) {
      const watched = work.catch((error: unknown) => {
        if (closing.signal.aborted) return
        logger.fatal({ err: error }, failure)
        fail(error)
      })
      running.push(watched)
    },
    async [Symbol.asyncDispose]() {
      closing.abort(new ScanError('NOT_READY', 'The process is stopping.'))
      await Promise.all(running)
    },
  }
}
