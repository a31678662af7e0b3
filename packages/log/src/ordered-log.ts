/** The interface of an ordering driver to the rest of the synchronizer: one writer, or an ordering member. */

import type { ScanError } from '@quorumscan/errors'
import type { LogPosition } from '@quorumscan/model'
import type { OrderingReport } from '@quorumscan/runtime'
import type { Evidence } from '@quorumscan/verifier'
import type { LogStart } from './connection.ts'

export type OrderedLog = AsyncDisposable & {
  /**
   * Resolves when the entry is in the log. The senders share the entries that may wait. Empty bytes ask for a checkpoint, which a driver may ignore that makes them
   * when its members agree.
   *
   * @throws {ScanError} The refusal; DEPENDENCY_UNAVAILABLE if it is unknown whether the log has the entry.
   */
  append(bytes: Uint8Array, sender: string): Promise<void>
  /** The newest entry that followers can receive. */
  head(): LogPosition
  /** Deletes the groups that end before the position. Returns the new start of the log; null: the genesis. */
  trim(before: LogPosition, signal: AbortSignal): Promise<LogStart | null>
  /**
   * Answers a read of the engine for another member. Request and answer are signed (`cometbft/state-sync`).
   *
   * @throws {ScanError} PERMISSION_DENIED, INVALID_ARGUMENT, OVERLOADED, DEPENDENCY_UNAVAILABLE; ROUTE_NOT_FOUND with
   *   the driver `redis`.
   */
  answerRead(request: Uint8Array): Promise<Uint8Array>
  /** Why entries are refused at this moment; null: they are accepted. */
  refusal(): ScanError | null
  /** @throws {ScanError} The reason why the driver does not order entries. */
  assertReady(): void
  /** The state of the ordering members; null if one process orders alone. */
  ordering(): OrderingReport | null
  /** Proofs that an ordering member equivocated. */
  evidence(): readonly Evidence[]
  /** `live` while the driver orders entries. */
  state(): string
  /** What an operator must know in addition to the state; null: nothing. */
  detail(): string | null
  /** Resolves after disposing; rejects with the error that forbids the process to continue. */
  readonly finished: Promise<unknown>
}
