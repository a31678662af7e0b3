/** A stream of items for its current listeners, with a buffer of the latest. */
import { held } from '@quorumscan/base'

/** A listener that does not keep up misses the oldest items. */
const BACKLOG_MAX = 256

export type Feed<T> = ReturnType<typeof createFeed<T>>

/** @param storedMax - How many of the latest items are stored. */
export function createFeed<T>(storedMax: number) {
  const stored: T[] = []
  const listeners = held(
    {
      owner: 'cluster',
      name: 'subscriptions of feeds',
      kind: 'work',
      bound: 'the pool of subscriptions',
    },
    new Set<(item: T) => void>(),
  )
  return {
    publish(item: T): void {
      stored.push(item)
      if (stored.length > storedMax) stored.shift()
      for (const listener of listeners) listener(item)
    },
    /** Oldest first. */
    recent: (): readonly T[] => [...stored],
    /** The items from now on, until the signal aborts. A listener that is too slow misses the oldest. */
    async *follow(signal: AbortSignal = new AbortController().signal): AsyncGenerator<T, void> {
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
