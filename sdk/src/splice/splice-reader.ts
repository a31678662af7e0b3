/** What all reads share: an electorate that is opened once and refreshed, and a deadline for each read. */
import type { Transport } from '@quorumscan/reader'
import type { Clock } from '../platform/clock.ts'
import { TIMEOUT_MS, withDeadline } from '../platform/deadline.ts'
import { learn, type Origin, openElectorate } from './directory.ts'
import type { JsonValue } from './exact-json.ts'
import { type Electorate, type Question, readByVotes } from './question.ts'
import type { SpliceThreshold } from './splice-decider.ts'
import type { SpliceOutcome } from './splice-outcome.ts'

/** Bounds of a read. Each overrides the default of the client. */
export type SpliceReadOptions = {
  /** How many answers must be equal. Default `f+1`. */
  readonly threshold?: SpliceThreshold
  /** Timeout of the whole call, in ms. Default 10 000. */
  readonly timeoutMs?: number
  /** Aborts the call, which rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

export type SpliceReader = ReturnType<typeof createSpliceReader>

/** Members change a few times a year. After this age a list is refreshed concurrently with reads. */
const ELECTORATE_AGE_MS = 600_000
/** After this age reads wait for the new list. */
const ELECTORATE_AGE_MS_MAX = 1_200_000

export function createSpliceReader(options: {
  readonly origin: Origin
  readonly transport: Transport
  readonly clock: Clock
  readonly defaults: { readonly threshold?: SpliceThreshold; readonly timeoutMs?: number }
  /** Aborts all reads. */
  readonly signal: AbortSignal
}) {
  const { origin, transport, clock, defaults, signal: closing } = options
  let current: { readonly electorate: Electorate; readonly learnedAtMs: number } | null = null
  let learning: Promise<Electorate> | null = null

  const learnNow = async (): Promise<Electorate> => {
    const learnedAtMs = clock.monotonicMs()
    const context = { transport, clock, signal: closing, endsAtMs: learnedAtMs + TIMEOUT_MS }
    try {
      const electorate = await (current === null
        ? openElectorate(origin, context)
        : learn(current.electorate, origin, context))
      current = { electorate, learnedAtMs }
      return electorate
    } finally {
      learning = null
    }
  }

  const whenKnown = async (): Promise<Electorate> => {
    const ageMs = current === null ? Infinity : clock.monotonicMs() - current.learnedAtMs
    const isFixed = origin.areScansAll && origin.svCount !== null
    if (current !== null && (isFixed || ageMs < ELECTORATE_AGE_MS)) return current.electorate
    learning ??= learnNow()
    if (current === null || ageMs >= ELECTORATE_AGE_MS_MAX) return learning
    learning.catch(() => {}) // A read after the greatest age gets the error.
    return current.electorate
  }

  const timeoutOf = ({ timeoutMs = defaults.timeoutMs ?? TIMEOUT_MS }: SpliceReadOptions): number =>
    timeoutMs

  return {
    async read<T extends JsonValue>(
      question: Question<T>,
      asked: SpliceReadOptions,
    ): Promise<SpliceOutcome<T>> {
      const { threshold = defaults.threshold ?? 'f+1' } = asked
      const timeoutMs = timeoutOf(asked)
      const endsAtMs = clock.monotonicMs() + timeoutMs
      closing.throwIfAborted()
      const signal = AbortSignal.any([closing, asked.signal ?? closing])
      const bound = { clock, timeoutMs, signal, what: `${question.what}: the list of scans` }
      const electorate = await withDeadline(bound, whenKnown)
      return readByVotes(question, electorate, { transport, clock, threshold, endsAtMs, signal })
    },
    /** Several reads within one deadline; `bound` are the options of the next of them. */
    async bounded<T>(
      asked: SpliceReadOptions,
      run: (bound: () => SpliceReadOptions) => Promise<T>,
    ): Promise<T> {
      const endsAtMs = clock.monotonicMs() + timeoutOf(asked)
      return run(() => ({ ...asked, timeoutMs: Math.max(0, endsAtMs - clock.monotonicMs()) }))
    },
    nowMicros: () => clock.nowMicros(),
    /** null before it is known. */
    electorate: (): Electorate | null => current?.electorate ?? null,
  }
}
