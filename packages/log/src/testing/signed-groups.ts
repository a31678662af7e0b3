/** For tests: a network's genesis, groups that its key signs, and the end of reading a log. Needs no Redis. */
import { createKeyPair } from '@quorumscan/base'
import type { LogEntry, Ordering } from '@quorumscan/ledger'
import { type LogGenesis, type SignedGroup, signGroup } from '../group.ts'

export const START_MICROS = 1_700_000_000_000_000
export const keyPair = createKeyPair()
export const genesis: LogGenesis = {
  hash: 'ab'.repeat(32),
  recordTime: START_MICROS,
  ordering: { driver: 'redis', key: keyPair.publicKey },
}
export const never = new AbortController().signal

/** Reads from `from` until `until` says that it is enough. */
export async function readUntil(
  ordering: Ordering,
  options: {
    readonly until: (entries: readonly LogEntry[]) => boolean
    readonly from?: number
    readonly expected?: Parameters<Ordering['follow']>[0]['expected']
    readonly batchEntriesMax?: number
    readonly onBatch?: (batch: readonly LogEntry[]) => void
  },
): Promise<LogEntry[]> {
  const entries: LogEntry[] = []
  const stop = new AbortController()
  const { from = 0, expected = null, batchEntriesMax = 100 } = options
  const batches = ordering.follow({ from, expected, batchEntriesMax, signal: stop.signal })
  for await (const batch of batches) {
    options.onBatch?.(batch)
    entries.push(...batch)
    if (options.until(entries)) stop.abort()
  }
  return entries
}

/** Groups that hold the entries in order, cut after the given numbers of entries. */
export function chainOf(
  entries: readonly { readonly recordTime: number; readonly bytes: Uint8Array }[],
  sizes: readonly number[],
): SignedGroup[] {
  const groups: SignedGroup[] = []
  let done = 0
  for (let index = 0; done < entries.length; index++) {
    const size = sizes[index] ?? entries.length
    groups.push(
      signGroup(
        {
          firstOffset: done + 1,
          previousHash: groups.at(-1)?.hash ?? genesis.hash,
          entries: entries.slice(done, done + size),
        },
        { genesisHash: genesis.hash, keyPair },
      ),
    )
    done += size
  }
  return groups
}
