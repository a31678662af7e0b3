/** The bounds of each call: a deadline, and what it may not be older than. */
import type { CertifiedReadOptions } from '@quorumscan/reader/certified'
import type { Clock } from '../platform/clock.ts'
import { TIMEOUT_MS, withDeadline } from '../platform/deadline.ts'
import type { LookupOptions } from './lookups.ts'

/** The defaults of a client, which the options of a call overrule. */
export type Defaults = Pick<LookupOptions, 'threshold' | 'maxAgeMs' | 'timeoutMs'>

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
  options: Defaults & { readonly clock: Clock; readonly floor: () => Promise<number> },
): Bounds['bounded'] {
  const { clock, floor } = options
  return (what, lookup, run) => {
    const { timeoutMs = TIMEOUT_MS, threshold, maxAgeMs, minOffset } = { ...options, ...lookup }
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
