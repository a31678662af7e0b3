/** What lookups offer, and what they have in common: a deadline each, and checks of what is asked. */
import type { CertifiedEntry } from '@quorumscan/consensus/certified'
import type { CertifiedReadOptions } from '@quorumscan/consensus/certified-reader'
import { invalidArgument } from '../errors.ts'
import type { Clock } from '../platform/clock.ts'
import type {
  LookupOptions,
  LookupOutcome,
  LookupSource,
  NameChange,
  NameEntry,
  ReadOutcome,
} from './lookups.ts'

/** Lookups of names and parties: the same whether the scan nodes or a validator are asked. */
export interface Names {
  /**
   * The party that a name belongs to, or null if it is proven that there is none.
   *
   * @throws {QuorumscanError} CONSENSUS_DISPUTED, NOT_ENOUGH_NODES, CONSENSUS_LAGGING, TIMEOUT, … Whatever
   *   is not proven is thrown, never returned.
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
   * @throws {QuorumscanError} INVALID_ARGUMENT, TIMEOUT. What nodes say or fail to say is an outcome.
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
  /** As `resolve` for each, in order; lookups share their requests. Throws if any is not decided. */
  resolveMany(names: readonly string[], options?: LookupOptions): Promise<(string | null)[]>
  /**
   * Live entries whose name starts with the prefix, in byte order, none left out. All pages are read at one offset;
   * whoever takes longer than nodes keep it, a minute, goes on at a newer one.
   */
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

/** What all lookups are made of. */
export type NamesBase = Pick<Names, 'resolve'> & {
  readonly source: LookupSource
  readonly clock: Clock
  bounded<T>(what: string, lookup: LookupOptions, run: (read: BoundRead) => Promise<T>): Promise<T>
  changeOf(entry: Pick<NameEntry, 'name' | 'party'>): Promise<NameChange | null>
  /** Throws where the outcome is no answer. */
  partyOf(name: string, outcome: ReadOutcome<CertifiedEntry | null>): Promise<string | null>
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

/** @throws {QuorumscanError} INVALID_ARGUMENT if what a program without types passed in is no text. */
export function text(what: string, value: string): void {
  if (typeof value !== 'string') throw invalidArgument(`${what} is a text.`)
}
