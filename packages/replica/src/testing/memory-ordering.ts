/** The ordering port over a log in memory, for tests: cut into batches as a test wants, never faulty. */
import { sha256, toHex } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { LogEntry, Ordering } from '@quorumscan/ledger'

export type MemoryOrdering = Ordering & {
  /** Adds entries for followers to see. */
  push(entries: readonly LogEntry[]): void
}

/**
 * @param nextCut - How many entries the next batch has at most; all that there are by default.
 */
export function createMemoryOrdering(
  log: readonly LogEntry[],
  nextCut: () => number = () => Number.MAX_SAFE_INTEGER,
): MemoryOrdering {
  const entries = [...log]
  let wake = () => {}
  return {
    push(more) {
      entries.push(...more)
      wake()
    },
    submit: () => Promise.reject(new ScanError('NOT_READY', 'This log takes no submissions.')),
    async *follow({ from, expected, batchEntriesMax, signal }) {
      const last = entries[from - 1]
      if (from > 0 && (last === undefined || toHex(sha256(last.bytes)) !== expected?.entryHash))
        throw new ScanError('LOG_REGRESSED', `The log holds another entry at ${from}, or none.`)
      let position = from
      while (!signal.aborted) {
        if (position < entries.length) {
          const count = Math.min(nextCut(), batchEntriesMax)
          // Entries are delivered at least once: each batch begins with the last entry of the previous one.
          const batch = entries.slice(Math.max(position - 1, 0), position + count)
          position = Math.min(position + count, entries.length)
          yield batch
        } else {
          await new Promise<void>((resolve) => {
            wake = () => {
              signal.removeEventListener('abort', wake)
              resolve()
            }
            signal.addEventListener('abort', wake)
          })
        }
      }
    },
  }
}
