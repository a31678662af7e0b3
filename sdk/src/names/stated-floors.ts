/**
 * Floors that others state: validators in headers and WebSockets, other clients by the store or `writtenOffset`, programs by
 * `readFrom`. Each is one server's word, which must not stop reads.
 */
import type { CertifiedReadOptions } from '@quorumscan/reader/certified'
import type { Clock } from '../platform/clock.ts'

/** How long a read waits for a certificate that reaches the floor. */
export const CONFIRM_MS = 2000
/** How long an offset that was not confirmed, and higher ones, are ignored: as long as a floor holds. */
const IGNORED_MS = 60_000

type FloorRead<Found> = {
  /** As each source states it; 0: it states none. */
  readonly floors: readonly number[]
  /** The bounds of the caller; its own `minOffset` always holds. */
  readonly bound: CertifiedReadOptions
  /** The offset of the newest certificate so far. */
  readonly provenOffset: () => number
  readonly ask: (bound: CertifiedReadOptions) => Promise<Found>
}

/** @param onIgnored - Called with an offset from which on floors are ignored now. */
export function createStatedFloors(clock: Clock, onIgnored: (offset: number) => void) {
  let ignored: { readonly offset: number; readonly untilMs: number } | null = null
  /** Floors from here on are ignored; null: none is. */
  const unconfirmedOffset = (provenOffset: number): number | null => {
    if (
      ignored === null ||
      ignored.offset <= provenOffset ||
      clock.monotonicMs() >= ignored.untilMs
    )
      ignored = null
    return ignored?.offset ?? null
  }
  return {
    unconfirmedOffset,
    /**
     * Reads at the floor. If no certificate reaches it in time, reads without it. An answer then shows that nodes can be
     * reached: the offset is invented, or they are far behind, and it is ignored.
     */
    async read<Found>({ floors, bound, provenOffset, ask }: FloorRead<Found>): Promise<Found> {
      const { minOffset = 0, endsAtMs = Number.POSITIVE_INFINITY } = bound
      const higher = floors.filter((floor) => floor > minOffset)
      // The reader refuses a negative offset.
      if (higher.length === 0 || minOffset < 0) return ask(bound)
      const limit = unconfirmedOffset(provenOffset()) ?? Number.POSITIVE_INFINITY
      // One invented offset does not hide what other sources state.
      const lowest = Math.max(minOffset, ...higher.filter((floor) => floor < limit))
      if (lowest <= minOffset || lowest <= provenOffset())
        return ask({ ...bound, minOffset: lowest })
      const untilMs = Math.min(endsAtMs, clock.monotonicMs() + CONFIRM_MS)
      const found = await ask({ ...bound, minOffset: lowest, endsAtMs: untilMs })
      const isConfirmed = isProven(found) || provenOffset() >= lowest
      if (isConfirmed || untilMs === endsAtMs) return found
      const older = await ask(bound)
      if (isProven(older) && provenOffset() < lowest) {
        ignored = { offset: lowest, untilMs: clock.monotonicMs() + IGNORED_MS }
        onIgnored(lowest)
      }
      return older
    },
  }
}

/** Whether each outcome is decided; `lagging` and `insufficient` are not. */
function isProven(found: unknown): boolean {
  return [found].flat().every((outcome) => {
    const { kind } = outcome as { readonly kind?: unknown }
    return kind !== 'lagging' && kind !== 'insufficient'
  })
}
