/** Looking names up: one interface, whether the nodes themselves are asked or a validator's scan proxy. */
import type { Outcome, ReadOptions } from '@quorumscan/consensus'
import { invalidArgument } from '../errors.ts'
import type { Clock } from '../platform/clock.ts'
import { withDeadline } from '../platform/deadline.ts'
import type { Store } from '../platform/store.ts'
import type { LoadScanExtras } from '../scan-extras.ts'
import { entryOf } from './entries.ts'
import type {
  LookupOptions,
  LookupOutcome,
  LookupSource,
  NameChange,
  NameEntry,
} from './lookups.ts'
import type { OtherLookups } from './other-lookups.ts'
import { createSeenNames } from './seen-names.ts'

/** Lookups of names and parties: the same whether the scan nodes or a validator are asked. */
export interface Names {
  /**
   * The party that a name belongs to, or null if enough nodes agree that there is none.
   *
   * @throws {QuorumscanError} CONSENSUS_DISPUTED, NOT_ENOUGH_NODES, CONSENSUS_LAGGING, TIMEOUT, … Whatever
   *   is not agreed on is thrown, never returned.
   */
  resolve(name: string, options?: LookupOptions): Promise<string | null>
  /**
   * The name that stands for a party, or null. Checked forward: a name that does not lead back to the
   * party is none. Throws as `resolve`.
   */
  reverse(party: string, options?: LookupOptions): Promise<string | null>
  /**
   * A lookup with all that is known about it, a receipt among it.
   *
   * @throws {QuorumscanError} INVALID_ARGUMENT, TIMEOUT. What the nodes say or fail to say is an outcome.
   */
  lookup(
    name: string,
    options?: LookupOptions & {
      /** Whom the caller believes the name to belong to: anybody else is `mismatch`. */
      readonly expectParty?: string
      /** Whether nodes sign, so that there is a receipt. Costs them five times as much. Default true. */
      readonly receipt?: boolean
    },
  ): Promise<LookupOutcome>
  /** As `resolve` for each, in order; lookups share their requests. Throws if any is not decided. */
  resolveMany(names: readonly string[], options?: LookupOptions): Promise<(string | null)[]>
  /** Live entries whose name starts with the prefix, in byte order, all pages read at one offset. */
  search(
    prefix: string,
    options?: LookupOptions & {
      /** From 1 to 1000. Default 100. */
      readonly pageSize?: number
    },
  ): AsyncIterableIterator<NameEntry>
  /**
   * Whether the name can be registered now.
   *
   * @throws {QuorumscanError} NAME_SUFFIX_MISSING or INVALID_NAME if it never can be, with the rule in
   *   `details`; else as `resolve`.
   */
  isAvailable(name: string, options?: LookupOptions): Promise<boolean>
  /** The user has seen that the name changed hands: from now on it belongs to `party`. */
  acceptChange(name: string, party: string): Promise<void>
}

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

/** What all lookups are made of. */
export type NamesBase = Pick<NamesOptions, 'source' | 'clock'> &
  Pick<Names, 'resolve'> & {
    bounded<T>(
      what: string,
      lookup: LookupOptions,
      run: (read: BoundRead) => Promise<T>,
    ): Promise<T>
    changeOf(entry: NameEntry): Promise<NameChange | null>
    /** Throws where the outcome is no answer. */
    partyOf(name: string, outcome: Outcome): Promise<string | null>
  }

export type BoundRead = ReadOptions & {
  readonly signal: AbortSignal
  /** When the call has to be over, by the monotonic clock. */
  readonly endsAtMs: number
}

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
    const entry = entryOf(outcome)
    if (entry === null) return null
    await changeOf(entry)
    return entry.party
  }

  const resolve: Names['resolve'] = async (name, lookup = {}) => {
    text('the name', name)
    return bounded(`resolve ${name}`, lookup, async (read) => {
      const ask = () => source.lookup([{ name }], read)
      let outcomes = await ask()
      if (!('answer' in (outcomes[0] as Outcome)))
        outcomes = await (await options.extras()).retryLookups(ask, { clock, read, outcomes })
      return partyOf(name, outcomes[0] as Outcome) // One asked, one answered.
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
    acceptChange: (name, party) => seen.accept(name, party),
  }
}

/** Of a lookup, what the reader takes. */
export function readOptions({ threshold, minOffset, maxAgeMs }: LookupOptions): ReadOptions {
  return { threshold, minOffset, maxAgeMs }
}

/** @throws {QuorumscanError} INVALID_ARGUMENT if what a program without types passed in is no text. */
export function text(what: string, value: string): void {
  if (typeof value !== 'string') throw invalidArgument(`${what} is a text.`)
}
