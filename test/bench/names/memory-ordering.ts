/** A log in memory that implements the ordering port, so that measurements do not include fsync. */
import { assert } from '@quorumscan/base'
import type { LogEntry, Ordering } from '@quorumscan/ledger'

export type MemoryLog = Ordering & {
  readonly entries: readonly LogEntry[]
  /** Appends entries, `stepMicros` of record time apart. */
  append(bytes: readonly Uint8Array[], stepMicros: number): void
}

export function createMemoryLog(recordTime: number, first: readonly LogEntry[] = []): MemoryLog {
  const entries: LogEntry[] = [...first]
  let wake = () => {}
  return {
    entries,
    append(all, stepMicros) {
      for (const bytes of all) {
        const offset = entries.length + 1
        const previous = entries.at(-1)?.recordTime ?? recordTime
        entries.push({ offset, recordTime: previous + stepMicros, bytes })
      }
      wake()
    },
    submit: () => Promise.reject(new Error('use append')),
    async *follow({ from, batchEntriesMax, signal }) {
      assert(from <= entries.length, 'the log has all applied entries')
      let position = from
      signal.addEventListener('abort', () => wake(), { once: true })
      while (!signal.aborted) {
        if (position < entries.length) {
          const batch = entries.slice(position, position + batchEntriesMax)
          position += batch.length
          yield batch
        } else
          await new Promise<void>((resolve) => {
            wake = resolve
          })
      }
    },
  }
}
