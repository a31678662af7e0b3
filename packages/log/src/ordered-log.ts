/** The ordering driver as the rest of the process uses it: one writer, or an ordering member. */

import type { ScanError } from '@quorumscan/errors'
import type { LogPosition } from '@quorumscan/model'
import type { OrderingReport } from '@quorumscan/runtime'
import type { Evidence } from '@quorumscan/verifier'
import type { LogStart } from './connection.ts'

export type OrderedLog = AsyncDisposable & {
  /**
   * Resolves when the entry is in the log.
   *
   * @throws {ScanError} What refuses it; DEPENDENCY_UNAVAILABLE if that is not known.
   */
  append(bytes: Uint8Array): Promise<void>
  /** Newest entry that followers can have. */
  head(): LogPosition
  /** Deletes the groups that end before. Returns where the log begins then; null: with the genesis. */
  trim(before: LogPosition, signal: AbortSignal): Promise<LogStart | null>
  /**
   * Answers what another member asks of the engine, both signed (`cometbft/state-sync`).
   *
   * @throws {ScanError} PERMISSION_DENIED, INVALID_ARGUMENT, OVERLOADED, DEPENDENCY_UNAVAILABLE; ROUTE_NOT_FOUND where
   *   one orders alone.
   */
  answerRead(request: Uint8Array): Promise<Uint8Array>
  /** Why entries are refused at this moment; null: they are accepted. */
  refusal(): ScanError | null
  /** @throws {ScanError} Why it does not do its work. */
  assertReady(): void
  /** The state of the ordering members; null where one process orders alone. */
  ordering(): OrderingReport | null
  /** Proofs that an ordering member equivocated. */
  evidence(): readonly Evidence[]
  /** `live` while it does. */
  state(): string
  /** What an operator must know in addition to the state; null: nothing. */
  detail(): string | null
  /** Resolves after disposing; rejects with the error that forbids the process to continue. */
  readonly finished: Promise<unknown>
}
