/**
 * Sources that are judged by what they prove. One that answered with something else, or not at all, loses its place: for a
 * time it comes after all others. It is never given up, because it may be the only one.
 */
import type { Clock } from '@quorumscan/base'

const PENALTY_MS = 60_000

export type Penalties<Source extends object> = ReturnType<typeof createPenalties<Source>>

export function createPenalties<Source extends object>(clock: Pick<Clock, 'monotonicMs'>) {
  const untilMs = new WeakMap<Source, number>()
  const isPenalized = (source: Source): boolean =>
    (untilMs.get(source) ?? Number.NEGATIVE_INFINITY) > clock.monotonicMs()
  return {
    note(source: Source): void {
      untilMs.set(source, clock.monotonicMs() + PENALTY_MS)
    },
    isPenalized,
    /** The same sources, those without a penalty first. */
    inOrder: (sources: readonly Source[]): readonly Source[] => [
      ...sources.filter((one) => !isPenalized(one)),
      ...sources.filter(isPenalized),
    ],
  }
}
