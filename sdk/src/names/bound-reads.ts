/** What lookups offer, and what they have in common: a deadline each, and checks of what is asked. */
import type { CertifiedReadOptions } from '@quorumscan/reader/certified'
import { PAGE_SIZE_MAX } from '@quorumscan/verifier'
import { invalidArgument } from '../errors.ts'
import type { Clock } from '../platform/clock.ts'
import type {
  FoundEntry,
  Invalid,
  LookupOptions,
  LookupOutcome,
  LookupSource,
  NameChange,
  ResolveOptions,
} from './lookups.ts'
import type { Sighting } from './seen-names.ts'
import type { WatchOptions } from './watch.ts'
import type { Watched } from './watch-state.ts'

/**
 * Lookups of names and parties: the same whether the scan nodes or a validator are asked. Names are taken as people
 * type them (`normalizeName`); what can be none is INVALID_NAME, and never said to be absent.
 */
export interface Names {
  /**
   * The party that a name belongs to, or null if it is proven that there is none.
   *
   * @throws {QuorumscanError} NAME_CHANGED if it belongs to somebody else than when it was last accepted, unless
   *   `acceptChange` says otherwise; NAME_EXPIRED, INVALID_NAME, CONSENSUS_DISPUTED, NOT_ENOUGH_NODES, CONSENSUS_LAGGING, TIMEOUT, …
   *   Whatever is not proven is thrown, never returned.
   */
  resolve(name: string, options?: ResolveOptions): Promise<string | null>
  /**
   * The entry that stands for a party, or null. Checked forward: a name that does not lead back to the
   * party is none. Throws as `resolve`, but for NAME_CHANGED: the entry has `changed`.
   */
  reverse(party: string, options?: LookupOptions): Promise<FoundEntry | null>
  /**
   * A lookup with all that is known about it, a receipt among it.
   *
   * @throws {QuorumscanError} INVALID_NAME, INVALID_ARGUMENT, TIMEOUT. What nodes say or fail to say is an outcome.
   */
  lookup(
    name: string,
    options?: LookupOptions & {
      /** Whom the caller believes the name to belong to: anybody else is `mismatch`. */
      readonly expectParty?: string
      /** Whether a receipt, of this lookup alone, is wanted. Default true. */
      readonly receipt?: boolean
    },
  ): Promise<LookupOutcome>
  /** An outcome for each name, in order, without receipts; lookups share their requests. Throws as `lookup`. */
  resolveMany(
    names: readonly string[],
    options?: LookupOptions,
  ): Promise<readonly (LookupOutcome | Invalid)[]>
  /** An outcome for each party, in order, without receipts, each entry checked forward. Throws as `lookup`. */
  reverseMany(
    parties: readonly string[],
    options?: LookupOptions,
  ): Promise<readonly LookupOutcome[]>
  /**
   * Live entries whose name starts with the prefix, in byte order, none left out. All pages are read at one offset;
   * whoever takes longer than nodes keep it, a minute, goes on at a newer one. Names that come by are not remembered.
   */
  search(prefix: string, options?: ListOptions): AsyncIterableIterator<FoundEntry>
  /** All live entries of a party, in byte order of the names, none left out. Else as `search`. */
  namesOf(party: string, options?: ListOptions): AsyncIterableIterator<FoundEntry>
  /**
   * Whether the name can be registered now.
   *
   * @throws {QuorumscanError} INVALID_NAME or NAME_SUFFIX_MISSING if it never can be, with the rule in
   *   `details`; else as `resolve`.
   */
  isAvailable(name: string, options?: LookupOptions): Promise<boolean>
  /**
   * What holds of a name from now on: first what is known, then whenever it says something else. An entry's end shows at
   * that moment, a change of owner within two certificates; what is no answer shows once the last one is too old. Ends
   * when the loop does.
   *
   * @throws {QuorumscanError} INVALID_NAME and what else no further asking can change.
   */
  watch(name: string, options?: WatchOptions): AsyncIterableIterator<Watched>
  /** The user has seen that the name changed hands: from now on it belongs to `party`. */
  acceptChange(name: string, party: string): Promise<void>
}

/** What lists take. */
export type ListOptions = LookupOptions & {
  /** From 1 to 1000. Default 100. */
  readonly pageSize?: number
}

/** What all lookups are made of. */
export type NamesBase = {
  readonly source: LookupSource
  readonly clock: Clock
  bounded<T>(what: string, lookup: LookupOptions, run: (read: BoundRead) => Promise<T>): Promise<T>
  /** What changed since it was last accepted, each in its place. */
  changesOf(read: readonly Sighting[], isKept: boolean): Promise<(NameChange | null)[]>
}

export type BoundRead = CertifiedReadOptions & {
  readonly signal: AbortSignal
  /** When the call has to be over, by the monotonic clock. */
  readonly endsAtMs: number
}

/** Of a lookup, what the reader takes. */
export function readOptions({
  threshold,
  minOffset,
  maxAgeMs,
}: LookupOptions): Pick<BoundRead, 'threshold' | 'minOffset' | 'maxAgeMs'> {
  return { threshold, minOffset, maxAgeMs }
}

/** The higher of what a caller asks for and a floor; what is no offset stays, for the reader to refuse. */
export function notBelow(floor: number, minOffset = 0): number {
  return minOffset < 0 ? minOffset : Math.max(minOffset, floor)
}

/** @throws {QuorumscanError} INVALID_ARGUMENT. */
export function pageSizeOf({ pageSize = 100 }: { readonly pageSize?: number }): number {
  if (Number.isInteger(pageSize) && pageSize >= 1 && pageSize <= PAGE_SIZE_MAX) return pageSize
  throw invalidArgument(`pageSize is a whole number from 1 to ${PAGE_SIZE_MAX}.`)
}
