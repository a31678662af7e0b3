/** Watches a name: lookups as answers of a watch. */
import type { Clock } from '../platform/clock.ts'
import type { NameEntry, WatchOptions } from './lookup-types.ts'
import type { Names } from './names-type.ts'
import { readingOf } from './reading.ts'
import type { Shown } from './shown.ts'
import { watchShown } from './watch.ts'

/** The distance of certifiable offsets (D-49), so that no change waits for a third one. */
const POLL_MS = 250

/**
 * @param name - As `lookup` takes it.
 * @param options.clock - Corrected by proven time.
 */
export function watchName(
  name: string,
  options: WatchOptions & {
    readonly clock: Clock
    readonly lookup: Names['lookup']
    channel(): Promise<string>
  },
): AsyncGenerator<Shown<NameEntry>, never> {
  const { lookup, clock, channel, signal, pollMs = POLL_MS, onStart, ...asked } = options
  const { maxAgeMs } = asked
  const reading = async (own: AbortSignal) => {
    const outcome = await lookup(name, { ...asked, receipt: false, signal: own })
    return readingOf(outcome, (entry) => entry)
  }
  return watchShown({
    clock,
    channel,
    pollMs,
    ...(signal && { signal }),
    ...(onStart && { onStart }),
    ...(maxAgeMs !== undefined && { maxAgeMs }),
    isOf: (changed) => changed === name,
    read: async (own) =>
      // The clock is corrected.
      ({ ...(await reading(own)), clockSkewMs: null }),
  })
}
