import { createSystemClock } from '@quorumscan/base'

export type Load = {
  /** Answers, those of the warm-up included. */
  readonly count: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Answers that were not the wanted one, and requests that got none. */
  readonly failureCount: number
  /** What was wrong with the first of them; null without failures. */
  readonly firstFailure: string | null
}

/** Before anything is counted, as a part of the time: connections open, code is compiled. */
const WARM_UP = 0.25

/** Asks so many times side by side, each again as soon as it was answered. */
export async function measureLoad(options: {
  readonly concurrency: number
  readonly ms: number
  /** So many and no more; without it as many as are answered. */
  readonly perSecond?: number | undefined
  /** What is wrong with the answer; null: nothing. */
  ask(index: number): Promise<string | null>
}): Promise<Load> {
  const { concurrency, ms, perSecond, ask } = options
  const clock = createSystemClock()
  const begin = clock.monotonicMs()
  const start = begin + WARM_UP * ms
  const end = start + ms
  const times: number[] = []
  let [count, failureCount, sentCount] = [0, 0, 0]
  let firstFailure: string | null = null

  /** Until the next one may leave. */
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
      if (sentAt >= end) return
      const failure = await ask(index)
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
