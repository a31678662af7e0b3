/** What clients that read have in common, and the bounds of each call: a deadline, and a lowest offset. */
import type { CertifiedReadOptions } from '@quorumscan/reader/certified'
import type { CryptoPort, Threshold } from '@quorumscan/verifier'
import type { Traceparent } from '../http/traced-fetch.ts'
import type { Clock } from '../platform/clock.ts'
import { TIMEOUT_MS, withDeadline } from '../platform/deadline.ts'
import type { Store } from '../platform/store.ts'
import type { LookupOptions, NameChange } from './lookups.ts'

/** What clients that read have in common. */
export type ReadsOptions = {
  /** Default for every lookup; `weak` (f+1 signers) unless given. */
  readonly threshold?: Threshold
  /** Default for every lookup: how old an answer may be by record time, in ms. 60 000 unless given. */
  readonly maxAgeMs?: number
  /** For a whole call, in ms. Default 10 000. */
  readonly timeoutMs?: number
  /** Keeps the floor, addresses and last seen parties over restarts. Default: in memory. */
  readonly store?: Store
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
  /** The trace that requests belong to; of lookups that share a request, when it is sent. */
  readonly traceparent?: Traceparent
  /** For deadlines, pauses and freshness. Default: the platform's. */
  readonly clock?: Clock
  /** SHA-256 and Ed25519. Default: WebCrypto; without either nothing is read. */
  readonly crypto?: CryptoPort
  /**
   * Names that this client remembers with their parties. A lookup of another name throws SEEN_NAMES_FULL, since no name
   * is forgotten. Default 10 000; with 0 none is remembered, and no change of owner is noticed.
   */
  readonly seenNamesMax?: number
  /** A name belongs to another party than when it was last accepted. */
  readonly onChanged?: (change: NameChange) => void
}

export type BoundRead = CertifiedReadOptions & {
  readonly signal: AbortSignal
  /** When the call has to be over, by the monotonic clock. */
  readonly endsAtMs: number
}

export type Bounds = {
  readonly clock: Clock
  /** Runs a call within its deadline, and reads nothing older than what clients of the store have seen or written. */
  bounded<T>(what: string, lookup: LookupOptions, run: (read: BoundRead) => Promise<T>): Promise<T>
}

export function createBounded(
  defaults: Pick<ReadsOptions, 'threshold' | 'maxAgeMs' | 'timeoutMs'> & {
    readonly clock: Clock
    readonly floor: () => Promise<number>
  },
): Bounds['bounded'] {
  const { clock, floor } = defaults
  return (what, lookup, run) => {
    const { timeoutMs = TIMEOUT_MS, threshold, maxAgeMs, minOffset } = { ...defaults, ...lookup }
    const endsAtMs = clock.monotonicMs() + timeoutMs
    return withDeadline({ clock, timeoutMs, signal: lookup.signal, what }, async (signal) => {
      const lowest = notBelow(await floor(), minOffset)
      return run({ threshold, maxAgeMs, minOffset: lowest, signal, endsAtMs })
    })
  }
}

/** The higher of what a caller asks for and a floor; what is no offset stays, for the reader to refuse. */
export function notBelow(floor: number, minOffset = 0): number {
  return minOffset < 0 ? minOffset : Math.max(minOffset, floor)
}
