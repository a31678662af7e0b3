import type { Clock } from '@quorumscan/base'

export type SimClock = Clock & {
  /** Runs the callback after `ms` of virtual time. Callbacks of the same time run in the order of scheduling. */
  schedule(ms: number, callback: () => void): void
  /** Advances virtual time until the promise settles. Rejects if no event remains that could settle it. */
  run<Value>(promise: Promise<Value>): Promise<Value>
  /** Advances virtual time by `ms`. */
  advance(ms: number): Promise<void>
}

type Event = { readonly atMs: number; readonly order: number; readonly callback: () => void }

/**
 * Virtual time advances only from event to event, and only after all woken callbacks have run. If all other inputs are
 * deterministic, the same seed gives the same run.
 */
export function createSimClock(startMicros = 1_700_000_000_000_000): SimClock {
  let nowMs = 0
  let order = 0
  const heap: Event[] = []

  const isBefore = (a: Event, b: Event): boolean =>
    a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)

  const push = (event: Event): void => {
    let index = heap.push(event) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!isBefore(event, heap[parent] as Event)) break
      heap[index] = heap[parent] as Event
      index = parent
    }
    heap[index] = event
  }

  const pop = (): Event | undefined => {
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event))
        child++
      if (!isBefore(heap[child] as Event, last)) break
      heap[index] = heap[child] as Event
      index = child
    }
    heap[index] = last
    return first
  }

  const schedule = (ms: number, callback: () => void): void =>
    push({ atMs: nowMs + Math.max(0, ms), order: order++, callback })

  /** Runs all woken callbacks before time advances. */
  const drain = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

  const step = async (): Promise<boolean> => {
    const event = pop()
    if (event === undefined) return false
    nowMs = event.atMs
    event.callback()
    await drain()
    return true
  }

  return {
    nowMicros: () => startMicros + Math.round(nowMs * 1000),
    monotonicMs: () => nowMs,
    schedule,
    delay: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const onAbort = () => reject(signal?.reason)
        signal?.addEventListener('abort', onAbort, { once: true })
        schedule(ms, () => {
          signal?.removeEventListener('abort', onAbort)
          resolve()
        })
      }),
    async run(promise) {
      let isSettled = false
      const settle = () => {
        isSettled = true
      }
      promise.then(settle, settle)
      await drain()
      while (!isSettled)
        if (!(await step())) throw new Error('nothing is left that could settle the promise')
      return promise
    },
    async advance(ms) {
      const untilMs = nowMs + ms
      await drain()
      while (heap[0] !== undefined && heap[0].atMs <= untilMs) await step()
      nowMs = untilMs
    },
  }
}
