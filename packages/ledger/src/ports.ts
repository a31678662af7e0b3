/**
 * The ports between the log, the replica and their users. `log` implements `Ordering` and `LogSource`, `snapshots`
 * implements `Snapshots`, `replica` implements `Ledger`. These packages do not import each other: apps compose them.
 */

import type {
  Amount,
  Contract,
  ContractId,
  EntryResult,
  LogPosition,
  Micros,
  Offset,
  PartyId,
  Submission,
} from '@quorumscan/model'
import type { HistoryPoint } from '@quorumscan/verifier'

/** One entry of the log. Empty bytes are a checkpoint, which only advances record time. */
export type LogEntry = LogPosition & { readonly bytes: Uint8Array }

/** The ordering port. An existing BFT ordering engine can implement it. */
export interface Ordering {
  /**
   * Submits an entry. When it returns, the entry is durably accepted. The outcome is what a follower of the log sees.
   * The same bytes may be submitted any number of times (Rule 4). Empty bytes ask for a checkpoint now: record time
   * advances with entries alone, and an idle log has one every few seconds.
   *
   * @throws {ScanError} RATE_LIMITED, BODY_TOO_LARGE, INVALID_ARGUMENT (definitely not accepted) or
   *   DEPENDENCY_UNAVAILABLE (unknown: submit the same bytes again).
   */
  submit(bytes: Uint8Array, signal: AbortSignal): Promise<void>
  /**
   * Delivers the entries after `from`: without gaps, final, at least once, in batches of at most `batchEntriesMax`.
   * Record times strictly increase. The iteration ends when the signal aborts. It survives lost connections.
   *
   * `expected` is the entry that the follower applied last: record time and SHA-256 of the entry's bytes at `from`
   * (null at 0).
   *
   * @throws {ScanError} LOG_REGRESSED if the log is shorter than `from`, or differs there; OFFSET_PRUNED if the log
   *   begins after `from`.
   */
  follow(options: {
    readonly from: Offset
    readonly expected: { readonly recordTime: Micros; readonly entryHash: string } | null
    readonly batchEntriesMax: number
    readonly signal: AbortSignal
  }): AsyncIterable<readonly LogEntry[]>
}

/** A follower's connection to the synchronizer. The follower must verify the data that it receives. */
export interface LogSource {
  /** As `Ordering.submit`. */
  submit(bytes: Uint8Array, signal: AbortSignal): Promise<void>
  /**
   * Opens the stream of the log, from the group with offset `from` (at least 1) on. The stream arrives in chunks of any
   * size. It stays open, and is never silent for longer than a few seconds. The end of the iteration or the signal
   * closes it.
   *
   * @throws {ScanError} OFFSET_PRUNED if the log does not reach back to `from`. Any other error may be temporary.
   */
  open(options: {
    readonly from: Offset
    readonly signal: AbortSignal
  }): Promise<AsyncIterable<Uint8Array>>
}

/** Snapshots of the state. A replica stores its own there, and finds those of peers. */
export interface Snapshots {
  /**
   * Stores a snapshot. It may stop reading the content early. It stores nothing if the content throws. Undefined if
   * this process takes no snapshots.
   */
  take?(point: HistoryPoint, content: AsyncIterable<Uint8Array>): Promise<void>
  /**
   * The newest snapshot after an offset that enough members signed, from any peer that has it; null if no peer is
   * configured. Its content is verified.
   */
  find(after: Offset, signal: AbortSignal): Promise<PeerSnapshot | null>
}

export type PeerSnapshot = {
  readonly point: HistoryPoint
  /** In chunks of any size. Throws if no peer sends it completely. */
  readonly content: AsyncIterable<Uint8Array>
}

/** The newest applied entry of a replica. */
export type Head = LogPosition & {
  /** Hex. */
  readonly historyHash: string
  /** SHA-256 of the bytes of the entry at `offset`, hex. */
  readonly entryHash: string
}

/** An applied entry with its effects, as listeners receive it after the write. */
export type AppliedEntry = LogPosition & {
  readonly historyHash: string
  /** SHA-256 of the entry's bytes, hex: a submitter recognises its own entry by it. */
  readonly entryHash: string
  readonly result: EntryResult
  readonly created: readonly Contract[]
  readonly archived: readonly Contract[]
}

/** Work that a job should do from `at` (record time) on, as long as the contract is active. */
export type DueItem = { readonly job: string; readonly contractId: ContractId; readonly at: Micros }

/** The number and the sum of the contracts of a list by amount. */
export type Total = { readonly count: number; readonly sum: Amount }

/** What a submission would do. */
export type DryRun = {
  readonly result: EntryResult
  /** Bytes by which the state would grow (`growthOf`); 0 for one that is not accepted. */
  readonly growth: number
}

/** Reads of the newest applied state, for automation, wallets and command checks. */
export interface Ledger {
  head(): Head
  /** Active contracts in the order of `ids`; null for one that is not active. */
  contracts(ids: readonly ContractId[]): Promise<readonly (Contract | null)[]>
  /** Active contracts with this index key (`contract-keys.ts`): the newest first, or in lists by amount the largest. */
  contractsByKey(key: string, options?: { readonly limit?: number }): Promise<readonly Contract[]>
  /** The totals of lists by amount (`amountKey`) at one head. The cost does not depend on the lengths of the lists. */
  totals(keys: readonly string[]): Promise<readonly Total[]>
  isPartyAllocated(party: PartyId): Promise<boolean>
  /** The due work of a job at or before the record time of the head, oldest first, after the cursor. */
  dueItems(options: {
    readonly job: string
    readonly limit: number
    readonly after: DueItem | null
  }): Promise<readonly DueItem[]>
  /**
   * Interprets a submission against the head without effect, as the next entry, with a record time of at least
   * `notBefore`.
   */
  dryRun(submission: Submission, options?: { readonly notBefore?: Micros }): Promise<DryRun>
  /** Calls back after each applied entry, in order. Returns a function that ends this. */
  onApplied(listener: (entry: AppliedEntry) => void): () => void
}
