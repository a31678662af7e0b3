/** Watches a typed text: resolutions as answers of a watch. */
import { type QuorumscanError, transient } from '../errors.ts'
import type { Basis, WatchOptions } from '../names/lookup-types.ts'
import type { Shown } from '../names/shown.ts'
import { watchShown } from '../names/watch.ts'
import type { Reading } from '../names/watch-state.ts'
import type { Clock } from '../platform/clock.ts'
import { ACCEPTED } from '../platform/page.ts'
import { asError } from './party-resolver.ts'
import { type Candidate, type Resolution, STRENGTHS } from './results.ts'

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

type Asked = {
  readonly resolution: Resolution
  /** The answers that it rests on. */
  readonly support: readonly { readonly basis: Basis; readonly recordTime?: string | null }[]
}

export function watchResolution(
  options: ResolverWatchOptions & {
    readonly clock: Clock
    read(signal: AbortSignal): Promise<Asked>
  },
): AsyncGenerator<Shown<Candidate>, never> {
  const { read, pollMs = POLL_MS, ...watched } = options
  return watchShown({
    ...watched,
    pollMs,
    channel: async () => ACCEPTED,
    // The names of several naming systems, and only a hint to read again.
    isOf: () => true,
    isFatal: ({ code }) => FATAL.has(code),
    read: async (signal) => readingOf(await read(signal)),
  })
}

/** @throws {QuorumscanError} Why there is no party, and no proof of absence. */
function readingOf({ resolution, support }: Asked): Reading<Candidate> {
  const times = support.flatMap(({ recordTime }) => recordTime ?? [])
  const [recordTime = null] = times.sort()
  const bases = support.map(({ basis }) => STRENGTHS.indexOf(basis))
  const basis = STRENGTHS[Math.min(...bases)] ?? 'proof'
  if (resolution.kind === 'found') {
    const { kind: _, ...value } = resolution
    const { validUntil, clockSkewMs } = value
    return { value, basis: value.basis, recordTime, validUntil, clockSkewMs, changed: null }
  }
  const { kind, candidates } = resolution
  const value = candidates.find(({ changed }) => changed !== null)
  if (kind === 'changed' && value !== undefined) {
    const { validUntil, clockSkewMs, changed } = value
    return { value, basis, recordTime, validUntil, clockSkewMs, changed }
  }
  if (kind === 'absent')
    return { value: null, basis, recordTime, validUntil: null, clockSkewMs: null, changed: null }
  throw errorOf(resolution)
}

function errorOf(resolution: Exclude<Resolution, { readonly kind: 'found' }>): QuorumscanError {
  const { kind, candidates, failures, error } = resolution
  const details = { candidates }
  switch (kind) {
    case 'expired':
      return transient('NAME_EXPIRED', 'The name has expired. It may get another owner.', {
        details,
      })
    case 'disputed':
      return transient(
        'CONSENSUS_DISPUTED',
        'Two resolvers have conflicting answers. Do not send.',
        {
          details,
        },
      )
    case 'ambiguous': {
      const message =
        'Two naming systems have this name, for different parties. Type it with its naming system.'
      return transient('NAME_AMBIGUOUS', message, { details })
    }
    case 'claimed': {
      const message = 'One server states an owner, and nothing was checked. Do not send.'
      return transient('NAME_CLAIMED', message, { details })
    }
    default: {
      const dispute = failures.find((one) => one.error.code === 'CONSENSUS_DISPUTED')
      return asError(dispute?.error ?? error)
    }
  }
}
