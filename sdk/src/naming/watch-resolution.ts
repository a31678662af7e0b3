/** Watches a typed text: resolutions as answers of a watch. */
import type { WatchOptions } from '../names/lookup-types.ts'
import type { Shown } from '../names/shown.ts'
import { watchShown } from '../names/watch.ts'
import type { Reading } from '../names/watch-state.ts'
import type { Clock } from '../platform/clock.ts'
import { ACCEPTED } from '../platform/page-events.ts'
import type { Candidate, Resolution } from './results.ts'

/** An owner may change between typing and sending. */
const POLL_MS = 2000
/** Another answer cannot change them. */
const FATAL: ReadonlySet<string> = new Set([
  'INVALID_NAME',
  'INVALID_PARTY',
  'INVALID_ARGUMENT',
  'CLOSED',
])

/** Options of `watch`. */
export type ResolverWatchOptions = Pick<WatchOptions, 'signal' | 'onStart' | 'maxAgeMs'> & {
  /** Time between requests, in ms. Default 2000. */
  readonly pollMs?: number
}

export function watchResolution(
  options: ResolverWatchOptions & {
    readonly clock: Clock
    resolve(signal: AbortSignal): Promise<Resolution>
  },
): AsyncGenerator<Shown<Candidate>, never> {
  const { resolve, pollMs = POLL_MS, ...watched } = options
  return watchShown({
    ...watched,
    pollMs,
    channel: async () => ACCEPTED,
    // The names of several naming systems, and only a hint to read again.
    isOf: () => true,
    isFatal: ({ code }) => FATAL.has(code),
    read: async (signal) => readingOf(await resolve(signal)),
  })
}

/** @throws {QuorumscanError} Why there is no party, and no proof of absence. */
function readingOf(resolution: Resolution): Reading<Candidate> {
  if (resolution.kind === 'failed') throw resolution.error
  const { value, basis, recordTime } = resolution
  const { validUntil = null, clockSkewMs = null } = value ?? {}
  const changed = resolution.kind === 'changed' ? resolution.previous : null
  return { value, basis, recordTime, validUntil, clockSkewMs, changed }
}
