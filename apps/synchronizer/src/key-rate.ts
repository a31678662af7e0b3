/**
 * Token buckets by participant key. A key costs its maker nothing, so unlike clients' addresses the
 * buckets of busy keys are never forgotten to make room: new keys are turned away instead.
 *
 * It keeps participants from crowding each other out. Whoever makes many keys is bounded by the rate of the
 * client's address, which pays for each submission before its key is looked at (D-33).
 */
import type { Clock } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'

/** 100 bytes each. A network has a handful of participants; the rest is somebody trying. */
const KEYS_MAX = 10_000
const MS_PER_SECOND = 1000
/** Seconds' worth of entries that a bucket holds. */
const BURST_SECONDS = 2
/**
 * Bytes that count as one entry: twice a usual one. What an entry costs every replica and the log grows with
 * its bytes: 256 KiB of JSON take as long as a hundred registrations.
 */
const ENTRY_UNIT_BYTES = 2048

export type KeyRate = {
  /** Takes an entry of that many bytes from the key's budget. @throws {ScanError} RATE_LIMITED if it is used up. */
  admit(publicKey: string, bytes: number): void
}

export function createKeyRate(options: {
  readonly entriesPerSecond: number
  readonly clock: Clock
  readonly keysMax?: number
}): KeyRate {
  const { entriesPerSecond, clock } = options
  const keysMax = options.keysMax ?? KEYS_MAX
  const capacity = entriesPerSecond * BURST_SECONDS
  // In order of last use.
  const buckets = new Map<string, { balance: number; atMs: number }>()

  const makeRoom = (nowMs: number): boolean => {
    if (buckets.size < keysMax) return true
    const [oldest] = buckets
    // Full again, whatever its balance was: it says nothing any more.
    if (oldest === undefined || nowMs - oldest[1].atMs < BURST_SECONDS * MS_PER_SECOND) return false
    return buckets.delete(oldest[0])
  }

  return {
    admit(publicKey, bytes) {
      // A full bucket admits any entry.
      const cost = Math.min(capacity, Math.max(1, Math.ceil(bytes / ENTRY_UNIT_BYTES)))
      const nowMs = clock.monotonicMs()
      const known = buckets.get(publicKey)
      if (known === undefined && !makeRoom(nowMs))
        throw new ScanError('RATE_LIMITED', 'too many participants submit at once', {
          retryAfterSeconds: BURST_SECONDS,
        })
      const bucket = known ?? { balance: capacity, atMs: nowMs }
      const refill = ((nowMs - bucket.atMs) / MS_PER_SECOND) * entriesPerSecond
      bucket.balance = Math.min(capacity, bucket.balance + refill)
      bucket.atMs = nowMs
      buckets.delete(publicKey)
      buckets.set(publicKey, bucket)
      if (bucket.balance < cost)
        throw new ScanError('RATE_LIMITED', 'this participant submits too much at once', {
          retryAfterSeconds: Math.max(1, Math.ceil((cost - bucket.balance) / entriesPerSecond)),
        })
      bucket.balance -= cost
    },
  }
}
