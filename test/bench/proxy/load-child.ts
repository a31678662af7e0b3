/** A process that sends GETs over so many connections for a while, each as soon as the last was answered. */
import { createSystemClock } from '@quorumscan/base'
import { type Dispatcher, Pool } from 'undici'
import { answer, childArgument } from '../child.ts'

export type LoadArgument = {
  readonly origin: string
  readonly paths: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
  readonly connections: number
  readonly ms: number
  /** So many requests and no more; without it as many as are answered. */
  readonly perSecond?: number
}
export type Load = {
  /** Answers, those of the warm-up included. */
  readonly count: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Answers that were no 200, and requests that got none. */
  readonly failureCount: number
  /** Of the first of them: status and body, or what befell the request; null where there was none. */
  readonly firstFailure: string | null
}

/** Requests before anything is counted: connections open, code is compiled. */
const WARM_UP = 0.25

const { origin, paths, headers = {}, connections, ms, perSecond } = childArgument<LoadArgument>()
const clock = createSystemClock()
const pool = new Pool(origin, { connections, pipelining: 1 })
const times: number[] = []
let count = 0
let failureCount = 0
let firstFailure: string | null = null
let sentCount = 0

/** What is wrong with the answer; null: nothing. */
function get(path: string): Promise<string | null> {
  return new Promise((resolve) => {
    let status = 0
    let text = ''
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart() {},
      onResponseStart(_controller, statusCode) {
        status = statusCode
      },
      onResponseData(_controller, chunk) {
        if (status !== 200) text += chunk
      },
      onResponseEnd: () => resolve(status === 200 ? null : `${status} ${text}`),
      onResponseError: (_controller, error) => resolve(error.message),
    }
    pool.dispatch({ path, method: 'GET', headers }, handler)
  })
}

const begin = clock.monotonicMs()
const start = begin + WARM_UP * ms
const end = start + ms

/** Until the next request may leave. */
async function pace(): Promise<void> {
  if (perSecond === undefined) return
  const dueMs = begin + (sentCount++ * 1_000) / perSecond
  const waitMs = dueMs - clock.monotonicMs()
  if (waitMs > 0) await clock.delay(waitMs)
}

async function loop(first: number): Promise<void> {
  for (let index = first; ; index++) {
    await pace()
    const sentAt = clock.monotonicMs()
    if (sentAt >= end) return
    const failure = await get(paths[index % paths.length] ?? '')
    count++
    if (sentAt < start) continue
    if (failure === null) times.push(clock.monotonicMs() - sentAt)
    else {
      failureCount++
      firstFailure ??= failure
    }
  }
}
await Promise.all(Array.from({ length: connections }, (_, index) => loop(index)))
await pool.destroy()
times.sort((a, b) => a - b)
const at = (fraction: number) => times[Math.floor(times.length * fraction)] ?? Number.NaN
const load: Load = {
  count,
  perSecond: (times.length * 1_000) / ms,
  p50Ms: at(0.5),
  p99Ms: at(0.99),
  failureCount,
  firstFailure,
}
answer(load)
