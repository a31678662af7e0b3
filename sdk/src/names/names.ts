/** Looking names up: one interface, whether the nodes themselves are asked or a validator's scan proxy. */
import type { CertifiedEntry } from '@quorumscan/consensus/certified'
import type { Clock } from '../platform/clock.ts'
import { withDeadline } from '../platform/deadline.ts'
import type { Store } from '../platform/store.ts'
import type { LoadScanExtras } from '../scan-extras.ts'
import { type Names, type NamesBase, readOptions, text } from './bound-reads.ts'
import type { LookupOptions, LookupSource, NameChange, ReadOutcome } from './lookups.ts'
import type { OtherLookups } from './other-lookups.ts'
import { createSeenNames } from './seen-names.ts'

export type NamesOptions = {
  readonly source: LookupSource
  readonly clock: Clock
  readonly store: Store
  readonly timeoutMs: number
  readonly defaults: Pick<LookupOptions, 'threshold' | 'maxAgeMs'>
  readonly onChanged: ((change: NameChange) => void) | undefined
  /** What `resolve` does without. */
  readonly extras: LoadScanExtras
}

type Read = ReadOutcome<CertifiedEntry | null>

export function createNames(options: NamesOptions): Names {
  const { source, clock } = options
  const seen = createSeenNames(options.store, () => source.storeKey('names'))

  const bounded: NamesBase['bounded'] = (what, lookup, run) => {
    const timeoutMs = lookup.timeoutMs ?? options.timeoutMs
    const bound = { clock, timeoutMs, signal: lookup.signal, what }
    const endsAtMs = clock.monotonicMs() + timeoutMs
    return withDeadline(bound, (signal) =>
      run({ ...readOptions({ ...options.defaults, ...lookup }), signal, endsAtMs }),
    )
  }

  const changeOf: NamesBase['changeOf'] = async (entry) => {
    const change = await seen.compare(entry.name, entry.party)
    if (change !== null) options.onChanged?.(change)
    return change
  }

  const partyOf: NamesBase['partyOf'] = async (name, outcome) => {
    if (!('answer' in outcome)) throw (await options.extras()).outcomeError(name, outcome)
    if (outcome.answer === null) return null
    const { name: found, user: party } = outcome.answer
    await changeOf({ name: found, party })
    return party
  }

  const resolve: Names['resolve'] = async (name, lookup = {}) => {
    text('the name', name)
    return bounded(`resolve ${name}`, lookup, async (read) => {
      const ask = () => source.lookup([{ name }], read)
      let outcomes = await ask()
      if (!('answer' in (outcomes[0] as Read)))
        outcomes = await (await options.extras()).retryLookups(ask, { clock, read, outcomes })
      return partyOf(name, outcomes[0] as Read) // One asked, one answered.
    })
  }

  const base: NamesBase = { source, clock, resolve, bounded, changeOf, partyOf }
  let loading: Promise<OtherLookups> | undefined
  const more = (): Promise<OtherLookups> => {
    loading ??= options.extras().then(({ createOtherLookups }) => createOtherLookups(base))
    return loading
  }

  return {
    resolve,
    resolveMany: async (...input) => (await more()).resolveMany(...input),
    reverse: async (...input) => (await more()).reverse(...input),
    lookup: async (...input) => (await more()).lookup(...input),
    async *search(...input) {
      yield* (await more()).search(...input)
    },
    isAvailable: async (...input) => (await more()).isAvailable(...input),
    acceptChange: seen.accept,
  }
}
