/** What both readers share: addresses, floor, and the checks of a call before it is attempted. */
import {
  ASKED_NAME_LENGTH_MAX,
  BATCH_LOOKUPS_MAX,
  type CryptoPort,
  LONE_SURROGATE,
  type Lookup,
  memberSetOf,
  PARTY,
  type Threshold,
  thresholdVotes,
} from '@quorumscan/verifier'
import { ReaderError, type ReaderOptions } from './reader-options.ts'
import type { Address } from './source/address-book.ts'
import { createDirectory } from './source/directory.ts'
import { createVerifiedFloor } from './verified-floor.ts'
import type { ReadOptions } from './votes/read-outcome.ts'

/** The bounds of a caller, checked. */
export type Bounds = {
  /** A number of nodes. */
  readonly threshold: number
  readonly minOffset: number
  readonly maxAgeMs: number
}

const MAX_AGE_MS = 60_000 // D-39.
/** Reads waiting in one reader, which bounds its memory. */
export const WAITING_MAX = 20_000

/** @throws {ReaderError} INVALID_ARGUMENT if a seed is not an http or https URL. */
export function createReaderBase(
  options: ReaderOptions & { readonly crypto: CryptoPort },
  hooks: {
    readonly onAddress: (address: Address) => void
    readonly onPrivate?: (address: Address) => void
  },
) {
  const { genesis, trust = null, crypto } = options
  const votes = (threshold: Threshold) =>
    thresholdVotes(threshold, memberSetOf(genesis), trust) as number
  const nodeCount = votes('all')
  const faultyMax = votes('weak') - 1
  /** Aborted when the reader closes. */
  const closing = new AbortController()
  const floor = createVerifiedFloor(options.floorStore)
  return {
    nodeCount,
    faultyMax,
    trust,
    crypto,
    floor,
    directory: createDirectory({ reader: options, crypto, signal: closing.signal, ...hooks }),
    /**
     * Checks a call, and waits until the floor is loaded. Every refusal of a call before it is attempted is here.
     *
     * @throws {ReaderError} INVALID_THRESHOLD, INVALID_ARGUMENT, NO_FLOOR, CLOSED, OVERLOADED.
     * @throws The signal's reason.
     */
    async checkCall(read: ReadOptions, waitingCount: number): Promise<Bounds> {
      const threshold = votes(read.threshold ?? 'weak')
      if (!threshold)
        throw new ReaderError(
          'INVALID_THRESHOLD',
          `the threshold is weak, strong, all or from ${faultyMax + 1} to ${nodeCount}`,
        )
      const { minOffset = 0, maxAgeMs = MAX_AGE_MS } = read
      if (!Number.isSafeInteger(minOffset) || minOffset < 0 || !(maxAgeMs >= 0))
        throw new ReaderError('INVALID_ARGUMENT', 'minOffset or maxAgeMs is invalid')
      read.signal?.throwIfAborted()
      await floor.load()
      read.signal?.throwIfAborted() // The signal may have aborted during the wait; no listener reports that later.
      closing.signal.throwIfAborted()
      if (waitingCount >= WAITING_MAX) throw overloaded()
      return { threshold, minOffset, maxAgeMs }
    },
    /** Returns what later calls throw. */
    close(): unknown {
      closing.abort(new ReaderError('CLOSED', 'the reader is closed'))
      return closing.signal.reason
    },
  }
}

/** @throws {ReaderError} INVALID_ARGUMENT. A lookup that nodes refuse would fail the whole batch. */
export function checkLookups(lookups: readonly Lookup[]): void {
  if (lookups.length > BATCH_LOOKUPS_MAX || !lookups.every(isLookup))
    throw new ReaderError(
      'INVALID_ARGUMENT',
      `a lookup is a name or a party, and there are at most ${BATCH_LOOKUPS_MAX}`,
    )
}

export function overloaded(): ReaderError {
  return new ReaderError('OVERLOADED', 'too many reads are waiting')
}

/** Whether every node accepts the lookup: a well-formed name of a permitted length, or a party (D-30). */
export function isLookup(lookup: Lookup): boolean {
  return 'name' in lookup
    ? lookup.name.length <= ASKED_NAME_LENGTH_MAX && !LONE_SURROGATE.test(lookup.name)
    : PARTY.test(lookup.party)
}
