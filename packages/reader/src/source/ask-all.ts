import type { ReaderClock } from '../reader-options.ts'
import { HEDGE_MS_MAX } from './source.ts'

/**
 * Asks all sources at once, where each may know what the others withhold. Ends when all have answered, or failed; if what
 * came is enough, it waits no longer than 150 ms for the silent ones.
 *
 * @returns The sources that were silent then.
 */
export function askAll<Source>(options: {
  readonly sources: Iterable<Source>
  readonly clock: Pick<ReaderClock, 'delay'>
  /** Must end by itself, also for a source that is not waited for. */
  readonly ask: (source: Source) => Promise<void>
  readonly isEnough: () => boolean
}): Promise<ReadonlySet<Source>> {
  const silent = new Set(options.sources)
  const ended = new AbortController()
  let isLate = false
  return new Promise((resolve) => {
    const check = () => {
      if (silent.size > 0 && !(isLate && options.isEnough())) return
      ended.abort()
      resolve(silent)
    }
    const answered = (source: Source) => {
      if (ended.signal.aborted) return
      silent.delete(source)
      check()
    }
    const becomeLate = () => {
      isLate = true
      check()
    }
    options.clock.delay(HEDGE_MS_MAX, ended.signal).then(becomeLate, () => {}) // All have answered.
    for (const source of [...silent]) {
      const end = () => answered(source)
      options.ask(source).then(end, end)
    }
    check()
  })
}
