/** Reads of a client in concurrent loops. */
import { createSystemClock } from '@quorumscan/base'
import type { Load } from './load.ts'

/** Rejects, or resolves to false, if no quorum answered. */
export type Read = (name: string) => Promise<boolean>

export type ReadsArgument = {
  readonly urls: readonly string[]
  readonly names: readonly string[]
  /** Concurrent reads. */
  readonly concurrency: number
  readonly ms: number
}

const WARM_UP = 0.25

/**
 * Does not use `measureLoad`, because a read of another client may never end if a server hangs.
 *
 * @param options.countsFailures - Failures of other clients while a server is faulty reduce their rate, but do not fail the
 *   measurement.
 */
export async function measureReads(
  read: Read,
  argument: Omit<ReadsArgument, 'urls'>,
  options: { readonly countsFailures: boolean },
): Promise<Load> {
  const { names, concurrency, ms } = argument
  const clock = createSystemClock()
  const start = clock.monotonicMs() + WARM_UP * ms
  const end = start + ms
  const times: number[] = []
  let failureCount = 0
  const loop = async (first: number) => {
    for (let index = first; clock.monotonicMs() < end; index++) {
      const sentAt = clock.monotonicMs()
      const isOk = await read(names[index % names.length] ?? '').catch(() => false)
      const now = clock.monotonicMs()
      if (now < start || now >= end) continue
      if (isOk) times.push(now - sentAt)
      else failureCount++
    }
  }
  await Promise.race([
    Promise.all(Array.from({ length: concurrency }, (_, index) => loop(index))),
    clock.delay(end - clock.monotonicMs() + 1_000),
  ])
  times.sort((a, b) => a - b)
  const at = (fraction: number) => times[Math.floor(times.length * fraction)] ?? Number.NaN
  return {
    count: times.length,
    perSecond: (times.length * 1_000) / ms,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    failureCount: options.countsFailures ? failureCount : 0,
    firstFailure: failureCount > 0 ? `${failureCount} reads without an answer` : null,
  }
}
