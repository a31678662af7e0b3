import { createManualClock, type ManualClock } from './manual-clock.ts'

const TICK_MS = 10

/**
 * A clock that advances only while this process runs: by ten milliseconds for each timer of ten milliseconds that fires. So
 * a machine that stops the process, or makes it slow, lets no deadline of our code pass before the process had its turns.
 *
 * @param startMicros - Its wall clock now. Default: that of `createManualClock`.
 * @param signal - Stops it.
 */
export function createTickingClock(startMicros?: number, signal?: AbortSignal): ManualClock {
  const clock = createManualClock(startMicros)
  const tick = () => {
    if (signal?.aborted) return
    setTimeout(() => void clock.advance(TICK_MS).then(tick), TICK_MS).unref()
  }
  tick()
  return clock
}
