/** Looking names up: one interface, whether the nodes themselves are asked or a validator's scan proxy. */
import type { CertifiedEntry } from '@quorumscan/verifier/certified'
import type { Clock } from '../platform/clock.ts'
import { withDeadline } from '../platform/deadline.ts'
import type { Kept } from '../platform/kept.ts'
import type { LoadScanExtras } from '../scan-extras.ts'
import { type Names, type NamesBase, notBelow, readOptions } from './bound-reads.ts'
import { hasEnded } from './entries.ts'
import type { LookupOptions, LookupSource, NameChange, ReadOutcome } from './lookups.ts'
import { isName, normalizeName } from './name-rules.ts'
import type { OtherLookups } from './other-lookups.ts'
import { createSeenNames } from './seen-names.ts'

export type NamesOptions = {
  readonly source: LookupSource
  readonly clock: Clock
  readonly kept: Kept
  /** Nothing older is read. */
  readonly floor: () => Promise<number>
  readonly timeoutMs: number
  readonly defaults: Pick<LookupOptions, 'threshold' | 'maxAgeMs'> & {
    readonly seenNamesMax?: number
  }
  readonly onChanged: ((change: NameChange) => void) | undefined
  /** What `resolve` does without. */
  readonly extras: LoadScanExtras
}

type Read = ReadOutcome<CertifiedEntry | null>

export function createNames(options: NamesOptions): Names {
  const { source, clock, extras } = options
  const seen = createSeenNames(options.kept, () => source.storeKey('names'), {
    seenNamesMax: options.defaults.seenNamesMax,
    seenNamesFull: async (max) => (await extras()).seenNamesFull(max),
  })

  const bounded: NamesBase['bounded'] = (what, lookup, run) => {
    const timeoutMs = lookup.timeoutMs ?? options.timeoutMs
    const bound = { clock, timeoutMs, signal: lookup.signal, what }
    const endsAtMs = clock.monotonicMs() + timeoutMs
    return withDeadline(bound, async (signal) => {
      const read = readOptions({ ...options.defaults, ...lookup })
      const minOffset = notBelow(await options.floor(), read.minOffset)
      return run({ ...read, minOffset, signal, endsAtMs })
    })
  }

  const changesOf: NamesBase['changesOf'] = async (read, isKept) => {
    const before = await seen.compare(read, isKept)
    if (before.every((each) => each === null)) return before as null[]
    const changes = (await extras()).nameChanges(before, read)
    for (const change of changes) if (change !== null) options.onChanged?.(change)
    return changes
  }

  const resolve: Names['resolve'] = async (typed, lookup = {}) => {
    const name = isName(typed) ? normalizeName(typed) : (await extras()).parseName(typed).name
    const { party, changed } = await bounded(`resolve ${name}`, lookup, async (read) => {
      const ask = () => source.lookup([{ name }], read)
      let outcomes = await ask()
      if (!('answer' in (outcomes[0] as Read)))
        outcomes = await (await extras()).retryLookups(ask, { clock, read, outcomes })
      const outcome = outcomes[0] as Read // One asked, one answered.
      if (!('answer' in outcome)) throw (await extras()).outcomeError(name, outcome)
      if (outcome.answer === null) return { party: null, changed: null }
      const { user: party, expires_at: expiresAt } = outcome.answer
      if (hasEnded(expiresAt, clock)) throw (await extras()).nameExpired(outcome.answer)
      const [changed] = await changesOf([{ name, party, atMicros: outcome.recordTime }], true)
      return { party, changed }
    })
    if (changed) await (await extras()).settleChange(changed, lookup.acceptChange, seen.accept)
    return party
  }

  const base: NamesBase = { source, clock, bounded, changesOf }
  let others: OtherLookups | undefined
  const more = async (): Promise<OtherLookups> => {
    const { createOtherLookups } = await extras()
    others ??= createOtherLookups(base)
    return others
  }

  return {
    resolve,
    resolveMany: async (...input) => (await more()).resolveMany(...input),
    reverse: async (...input) => (await more()).reverse(...input),
    reverseMany: async (...input) => (await more()).reverseMany(...input),
    lookup: async (...input) => (await more()).lookup(...input),
    async *search(...input) {
      yield* (await more()).search(...input)
    },
    async *namesOf(...input) {
      yield* (await more()).namesOf(...input)
    },
    isAvailable: async (...input) => (await more()).isAvailable(...input),
    async *watch(typed, lookup = {}) {
      const { parseName, watchName } = await extras()
      const channel = () => source.storeKey('names')
      const { lookup: ask } = await more()
      yield* watchName(parseName(typed).name, { ...lookup, clock, channel, lookup: ask })
    },
    async acceptChange(typed, party) {
      const { name } = (await extras()).parseName(typed)
      await seen.accept({ name, party, atMicros: clock.nowMicros() })
    },
  }
}
