/** What an app does apart from requests, until it stops. */
import type { Logger } from './logger.ts'

export function createBackground(options: {
  readonly logger: Logger
  /** Aborts when the app stops: what the work rejects with from then on is no failure. */
  readonly signal: AbortSignal
}) {
  const { logger, signal } = options
  const running: Promise<unknown>[] = []
  let fail: (error: unknown) => void = () => {}
  const failed = new Promise<unknown>((resolve) => {
    fail = resolve
  })
  return {
    /** Resolves with the error of the first work that failed: the process cannot go on without it. */
    failed,
    /** @param failure - What the log says when the work rejects before `signal` aborts. */
    run(failure: string, work: Promise<unknown>): void {
      const watched = work.catch((error: unknown) => {
        if (signal.aborted) return
        logger.fatal({ err: error }, failure)
        fail(error)
      })
      running.push(watched)
    },
    /** Resolves when all work has ended. */
    async ended(): Promise<void> {
      await Promise.all(running)
    },
  }
}

/** The failure of a replica whose `run` rejected. */
export const REPLICA_STOPPED =
  'the replica stopped and the process ends; if a restart does not help, wipe the replica'
