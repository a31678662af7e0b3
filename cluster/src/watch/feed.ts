/** Something that happens again and again, for whoever listens now, with a memory of the latest. */

/** What a listener that does not keep up may miss is older than what it gets. */
const BACKLOG_MAX = 256

export type Feed<T> = {
  publish(item: T): void
  /** Oldest first. */
  recent(): readonly T[]
  /** What is published from now on; a listener that is too slow misses the oldest. Ends with the signal. */
  follow(signal: AbortSignal): AsyncGenerator<T, void>
}

/** @param keptMax - How many of the latest are remembered. */
export function createFeed<T>(keptMax: number): Feed<T> {
  const kept: T[] = []
  const listeners = new Set<(item: T) => void>()
  return {
    publish(item) {
      kept.push(item)
      if (kept.length > keptMax) kept.shift()
      for (const listener of listeners) listener(item)
    },
    recent: () => [...kept],
    async *follow(signal) {
      const backlog: T[] = []
      let wake: () => void = () => {}
      const listener = (item: T) => {
        backlog.push(item)
        if (backlog.length > BACKLOG_MAX) backlog.shift()
        wake()
      }
      const onAbort = () => wake()
      listeners.add(listener)
      signal.addEventListener('abort', onAbort)
      try {
        while (!signal.aborted) {
          const next = backlog.shift()
          if (next !== undefined) yield next
          else
            await new Promise<void>((resolve) => {
              wake = resolve
            })
        }
      } finally {
        listeners.delete(listener)
        signal.removeEventListener('abort', onAbort)
      }
    },
  }
}
