/**
 * Detects that another process signs with this participant's key, as a copy of the validator on a second machine does.
 * The log shows it: an entry that this key signed, that this process never submitted, and that cannot be from before its
 * start. Only the holder of the key can make such an entry, so no synchronizer and no anonymous client can cause the warning.
 */
import { sha256Hex } from '@quorumscan/base'
import { decodeEntry, entryKey, type LogEntry, type Ordering } from '@quorumscan/ledger'
import type { Micros } from '@quorumscan/model'
import { formatInstant, NOT_AFTER_MICROS_MAX } from '@quorumscan/verifier'
import { LRUCache } from 'lru-cache'

/** Hashes of 10 min, after which entries have no effect. The log client can submit 200 per second: 16 MiB. */
const SUBMITTED_MAX = 120_000

export function watchSecondMachine(
  ordering: Ordering,
  options: {
    /** The key of the participant, hex. */
    readonly publicKey: string
    readonly genesisHash: string
    /** Whether the replica has caught up with the log. */
    readonly isLive: () => boolean
    /** The earliest record time that a new entry can get. */
    readonly now: () => Micros
    /** Called for each entry of another process; `text` is `detail`. */
    readonly onFound: (entry: Pick<LogEntry, 'offset' | 'recordTime'>, text: string) => void
  },
) {
  const { publicKey, genesisHash } = options
  const submitted = new LRUCache<string, true>({ max: SUBMITTED_MAX })
  let liveSince: Micros | null = null
  let detail: string | null = null

  const isOfAnother = ({ recordTime, bytes }: LogEntry): boolean => {
    if (liveSince === null || entryKey(bytes) !== publicKey || submitted.has(sha256Hex(bytes)))
      return false
    const entry = decodeEntry(bytes, genesisHash)
    if (entry.kind !== 'submission') return false
    const { notAfter } = entry.submission
    // What this key signed before a restart can still arrive, but is valid for less than 10 min from then on.
    const isSignedSince = notAfter > liveSince + NOT_AFTER_MICROS_MAX
    // A late repetition of an entry of this validator, whose hash may be evicted.
    const isOver = notAfter < recordTime
    return isSignedSince && !isOver
  }

  return {
    /** The same ordering; the validator must submit and follow through it. */
    ordering: {
      submit(bytes: Uint8Array, signal: AbortSignal) {
        submitted.set(sha256Hex(bytes), true)
        return ordering.submit(bytes, signal)
      },
      async *follow(request: Parameters<Ordering['follow']>[0]) {
        for await (const entries of ordering.follow(request)) {
          if (liveSince === null && options.isLive()) liveSince = options.now()
          for (const entry of entries) {
            if (!isOfAnother(entry)) continue
            detail = describe(entry)
            options.onFound(entry, detail)
          }
          yield entries
        }
      },
    },
    /** What was found and what to do, in ASCII; null while nothing was found. Remains until the process ends. */
    detail: () => detail,
  }
}

function describe({ offset, recordTime }: LogEntry): string {
  return (
    `another process signs with the key of this participant: this one did not submit the entry at offset ${offset} ` +
    `of ${formatInstant(recordTime)}. Stop the other validator for good, then restart this one`
  )
}
