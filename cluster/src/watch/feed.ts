/** A stream of items for its current listeners, with a buffer of the latest. */
import { EventEmitter, on } from 'node:events'

export type Feed<T> = ReturnType<typeof createFeed<T>>

/** @param storedMax - How many of the latest items are stored. */
export function createFeed<T>(storedMax: number) {
  const stored: T[] = []
  // Each open page has listeners.
  const emitter = new EventEmitter().setMaxListeners(0)
  return {
    publish(item: T): void {
      stored.push(item)
      if (stored.length > storedMax) stored.shift()
      emitter.emit('item', item)
    },
    /** Oldest first. */
    recent: (): readonly T[] => [...stored],
    /** The items from now on, until the signal aborts. */
    async *follow(signal: AbortSignal | undefined): AsyncGenerator<T, void> {
      try {
        for await (const [item] of on(emitter, 'item', { signal })) yield item
      } catch (error) {
        if (signal?.aborted !== true) throw error
      }
    },
  }
}
