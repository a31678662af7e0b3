/** Lookups of one moment, put together: as few requests as they fit into, and not more at a time than help. */

import type { Lookup } from '@quorumscan/verifier'
import { BATCH_LOOKUPS_MAX } from '../answers/lookups.ts'
import type { ReaderClock } from '../reader-options.ts'

/** More at a time would wait at the node; those that wait here can be put together with others. */
const REQUESTS_MAX = 8
/** So long a call waits for those that the answer under way brings. Where none is, it waits for its own turn's alone. */
const GATHER_MS = 1

export type Call<Options> = {
  /** At most 256. */
  readonly lookups: readonly Lookup[]
  readonly options: Options
  /** Calls with equal ones may share a request; null: this one shares none. */
  readonly key: string | null
  readonly signal: AbortSignal | undefined
}

type Waiting<Options, Outcome> = Call<Options> & {
  isOver: boolean
  /** Its caller left, after it was sent. */
  onLeave: () => void
  resolve(outcomes: Outcome[]): void
  reject(reason: unknown): void
}

export type SharedLookups<Options, Outcome> = {
  /** Rejects with the signal's reason when it aborts. */
  lookup(call: Call<Options>): Promise<Outcome[]>
  waitingCount(): number
}

/**
 * @param ask - Asks once for the lookups of several calls with equal keys, by the options of the first.
 */
export function createSharedLookups<Options, Outcome>(
  ask: (
    lookups: readonly Lookup[],
    options: Options,
    signal: AbortSignal,
  ) => Promise<readonly Outcome[]>,
  clock: Pick<ReaderClock, 'delay'>,
): SharedLookups<Options, Outcome> {
  const waiting = new Set<Waiting<Options, Outcome>>()
  let requestCount = 0
  let isGathering = false

  /** Those that fit together with the one that has waited longest. */
  const next = (): readonly Waiting<Options, Outcome>[] => {
    const calls: Waiting<Options, Outcome>[] = []
    let room = BATCH_LOOKUPS_MAX
    for (const call of waiting) {
      const [first = call] = calls
      if (first !== call && (call.key === null || call.key !== first.key)) continue
      if (call.lookups.length > room) continue
      room -= call.lookups.length
      calls.push(call)
      waiting.delete(call)
    }
    return calls
  }

  const send = async (calls: readonly Waiting<Options, Outcome>[]): Promise<void> => {
    const leaving = new AbortController()
    for (const call of calls)
      call.onLeave = () => {
        if (calls.every(({ isOver }) => isOver)) leaving.abort(call.signal?.reason)
      }
    try {
      const lookups = calls.flatMap((call) => call.lookups)
      const { options } = calls[0] as Call<Options> // There is one for whom they were put together.
      const outcomes = await ask(lookups, options, leaving.signal)
      let first = 0
      for (const { lookups: own, resolve } of calls) {
        resolve(outcomes.slice(first, first + own.length))
        first += own.length
      }
    } catch (error) {
      for (const { reject } of calls) reject(error)
    }
  }

  const gather = (): void => {
    if (isGathering) return
    isGathering = true
    void (requestCount === 0 ? Promise.resolve() : clock.delay(GATHER_MS)).then(pump)
  }

  const pump = (): void => {
    isGathering = false
    while (waiting.size > 0 && requestCount < REQUESTS_MAX) {
      requestCount++
      void send(next()).then(() => {
        requestCount--
        if (waiting.size > 0) gather()
      })
    }
  }

  return {
    waitingCount: () => waiting.size,
    lookup: (call) =>
      new Promise((resolve, reject) => {
        const { signal } = call
        const over = () => {
          own.isOver = true
          signal?.removeEventListener('abort', leave)
        }
        const leave = () => {
          over()
          waiting.delete(own)
          reject(signal?.reason)
          own.onLeave()
        }
        const own: Waiting<Options, Outcome> = {
          ...call,
          isOver: false,
          onLeave: () => {},
          resolve(outcomes) {
            over()
            resolve(outcomes)
          },
          reject(reason) {
            over()
            reject(reason)
          },
        }
        signal?.addEventListener('abort', leave)
        waiting.add(own)
        gather()
      }),
  }
}
