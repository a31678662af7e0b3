/** Something that happens again and again, for whoever listens now, with a memory of the latest. */

/** What a listener that does not keep up may miss is older than what it gets. */
const BACKLOG_MAX = 256

export type Feed<T> = ReturnType<typeof createFeed<T>>

/** @param keptMax - How many of the latest are remembered. */
export function createFeed<T>(keptMax: number) {
  const kept: T[] = []
  const listeners = new Set<(item: T) => void>()
  return {
    publish(item: T): void {
      kept.push(item)
      if (kept.length > keptMax) kept.shift()
      for (const listener of listeners) listener(item)
    },
    /** Oldest first. */
    recent: (): readonly T[] => [...kept],
    /** What is published from now on; a listener that is too slow misses the oldest. Ends with the signal. */
    async *follow(signal: AbortSignal): AsyncGenerator<T, void> {
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
