import { createSystemClock } from '@quorumscan/base'

export type Load = {
  /** Number of answers, including those of the warm-up. */
  readonly count: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Wrong answers, and requests without an answer. */
  readonly failureCount: number
  /** Description of the first failure; null without failures. */
  readonly firstFailure: string | null
}

/** Warm-up time, relative to the measured time. Connections open and code is compiled. */
const WARM_UP = 0.25

/**
 * Sends requests in `concurrency` loops. Each loop sends the next request after an answer. The time is exceeded if nothing
 * was answered in it.
 */
export async function measureLoad(options: {
  readonly concurrency: number
  readonly ms: number
  /** Maximum rate. Default: unlimited. */
  readonly perSecond?: number | undefined
  /** Sends a request. Resolves to a description of the failure, or to null. */
  send(index: number): Promise<string | null>
}): Promise<Load> {
  const { concurrency, ms, perSecond, send } = options
  const clock = createSystemClock()
  const begin = clock.monotonicMs()
  const start = begin + WARM_UP * ms
  const end = start + ms
  const times: number[] = []
  let [count, failureCount, sentCount] = [0, 0, 0]
  let firstFailure: string | null = null

  /** Waits until the next request is due. */
  const pace = async () => {
    if (perSecond === undefined) return
    const dueMs = begin + (sentCount++ * 1_000) / perSecond
    const waitMs = dueMs - clock.monotonicMs()
    if (waitMs > 0) await clock.delay(waitMs)
  }
  const loop = async (first: number) => {
    for (let index = first; ; index++) {
      await pace()
      const sentAt = clock.monotonicMs()
      if (sentAt >= end && times.length + failureCount > 0) return
      const failure = await send(index)
      count++
      if (sentAt < start) continue
      if (failure === null) times.push(clock.monotonicMs() - sentAt)
      else {
        failureCount++
        firstFailure ??= failure
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, (_, index) => loop(index)))
  times.sort((a, b) => a - b)
  const at = (fraction: number) => times[Math.floor(times.length * fraction)] ?? Number.NaN
  return {
    count,
    perSecond: (times.length * 1_000) / ms,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    failureCount,
    firstFailure,
  }
}
