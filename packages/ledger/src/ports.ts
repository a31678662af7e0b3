/**
 * The ports that adapters implement. L3 packages never import each other: `log` and `http` implement
 * `Ordering`, `replica` implements `Ledger`, and apps compose them.
 */

import type {
  Contract,
  ContractId,
  EntryResult,
  Micros,
  Offset,
  PartyId,
  Submission,
} from '@quorumscan/model'
import type { HistoryPoint } from '@quorumscan/verifier'

/** One entry of the log. Empty bytes are a checkpoint, which only advances record time. */
export type LogEntry = {
  readonly offset: Offset
  readonly recordTime: Micros
  readonly bytes: Uint8Array
}

/** The ordering port. An existing BFT ordering engine can implement it. */
export interface Ordering {
  /**
   * Submits an entry. When it returns, the entry is durably accepted. The outcome is what a reader of the log sees.
   * The same bytes may be submitted any number of times (Rule 4).
   *
   * @throws {ScanError} RATE_LIMITED, BODY_TOO_LARGE, INVALID_ARGUMENT (definitely not accepted) or
   *   DEPENDENCY_UNAVAILABLE (unknown: submit the same bytes again).
   */
  submit(bytes: Uint8Array, signal: AbortSignal): Promise<void>
  /**
   * Entries after `from`, gapless, final, at least once delivered, in batches of at most
   * `batchEntriesMax`; record times strictly increase. Ends when the signal aborts; waits out
   * lost connections itself.
   *
   * `expected` is what the reader applied last: record time and SHA-256 of the entry's bytes at `from`
   * (null at 0).
   *
   * @throws {ScanError} LOG_REGRESSED if the log is shorter than `from`, or differs there; OFFSET_PRUNED if it begins
   *   behind `from`.
   */
  follow(options: {
    readonly from: Offset
    readonly expected: { readonly recordTime: Micros; readonly entryHash: string } | null
    readonly batchEntriesMax: number
    readonly signal: AbortSignal
  }): AsyncIterable<readonly LogEntry[]>
}

/** The synchronizer as a process that follows it reaches it; what comes from there is still to be verified. */
export interface LogSource {
  /** As `Ordering.submit`. */
  submit(bytes: Uint8Array, signal: AbortSignal): Promise<void>
  /**
   * Opens the stream of the log from the group that holds offset `from` (at least 1) on, cut into pieces anywhere.
   * It stays open, and is never silent for longer than a few seconds. Leaving it, or the signal, closes it.
   *
   * @throws {ScanError} OFFSET_PRUNED if the log does not reach back that far; anything else may pass.
   */
  open(options: {
    readonly from: Offset
    readonly signal: AbortSignal
  }): Promise<AsyncIterable<Uint8Array>>
}

/** Snapshots of the state: where a replica puts its own, and where it finds one. */
export interface Snapshots {
  /**
   * Keeps what is given; it is read to its end, or as far as there is a use for it. Where the content throws, nothing
   * is kept. Absent where none are to be taken.
   */
  take?(point: HistoryPoint, content: AsyncIterable<Uint8Array>): Promise<void>
  /**
   * The newest one after an offset that enough members signed, from any peer that has it; null if no peer can be asked.
   * Its content is verified.
   */
  find(behind: Offset, signal: AbortSignal): Promise<PeerSnapshot | null>
}

export type PeerSnapshot = {
  readonly point: HistoryPoint
  /** Cut anywhere. Throws if it cannot be had to its end. */
  readonly content: AsyncIterable<Uint8Array>
}

/** The newest applied entry of a replica. */
export type Head = {
  readonly offset: Offset
  readonly recordTime: Micros
  /** Hex. */
  readonly historyHash: string
  /** SHA-256 of the bytes of the entry at `offset`, hex. */
  readonly entryHash: string
}

/** An applied entry with its effects, as listeners receive it after the write. */
export type AppliedEntry = {
  readonly offset: Offset
  readonly recordTime: Micros
  readonly historyHash: string
  /** SHA-256 of the entry's bytes, hex: a submitter recognises its own entry by it. */
  readonly entryHash: string
  readonly result: EntryResult
  readonly created: readonly Contract[]
  readonly archived: readonly Contract[]
}

/** Work that an automation should do from `at` (record time) on, as long as the contract is active. */
export type DueItem = { readonly job: string; readonly contractId: ContractId; readonly at: Micros }

/** Reads of the newest applied state, for automation, wallets and command checks. */
export interface Ledger {
  head(): Head
  /** Active contracts in the order asked; null for one that is not active. */
  contracts(ids: readonly ContractId[]): Promise<readonly (Contract | null)[]>
  /** Active contracts that a template's `keys` filed under this key (see `packages/ledger/README.md`). */
  contractsByKey(key: string, options?: { readonly limit?: number }): Promise<readonly Contract[]>
  isPartyAllocated(party: PartyId): Promise<boolean>
  /** What the job is due for at or before the record time of the head, oldest first, after the cursor. */
  dueItems(options: {
    readonly job: string
    readonly limit: number
    readonly after: DueItem | null
  }): Promise<readonly DueItem[]>
  /**
   * Interprets a submission against the head without effect: what it would do if it were the next entry,
   * with a record time not before the one given.
   */
  dryRun(submission: Submission, options?: { readonly notBefore?: Micros }): Promise<EntryResult>
  /** Calls back after each applied entry, in order. Returns the way to stop. */
  onApplied(listener: (entry: AppliedEntry) => void): () => void
}
