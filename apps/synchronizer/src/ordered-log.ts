/** What orders the log, as the rest of the process sees it: one writer, or a member of several. */
import type { ScanError } from '@quorumscan/errors'
import type { Micros, Offset } from '@quorumscan/model'

export type OrderedLog = AsyncDisposable & {
  /**
   * Resolves when the entry is in the log.
   *
   * @throws {ScanError} What refuses it; DEPENDENCY_UNAVAILABLE if that is not known.
   */
  append(bytes: Uint8Array): Promise<void>
  /** Newest entry that followers can have. */
  head(): { readonly offset: Offset; readonly recordTime: Micros }
  /** Why nothing is taken at this moment, although it could be asked; null: it is. */
  refusal(): ScanError | null
  /** @throws {ScanError} Why it does not do its work. */
  assertReady(): void
  /** `live` while it does. */
  state(): string
  /** What an operator must know beside the state; null: nothing. */
  detail(): string | null
  /** Resolves after disposing; rejects with what forbids the process to go on. */
  readonly finished: Promise<void>
}
