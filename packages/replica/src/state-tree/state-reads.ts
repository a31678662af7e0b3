/**
 * The port through which apps see the state tree: a root for each certifiable offset, to be signed, and proofs
 * against the roots that are kept.
 */

import type { Offset } from '@quorumscan/model'
import type { StatePoint } from '@quorumscan/verifier'
import type { ActivitiesPage, ProvenActivities } from '@quorumscan/verifier/certified'
import type { KeyRange, ProvenRange } from '@quorumscan/verifier/state-tree'

/** What the log made and what is stored are not the same. */
export type StateDivergence = {
  /** The newest state point at which they were compared. */
  readonly offset: Offset
  /** A sentence for the operator: what differs. */
  readonly what: string
}

export interface StateReads {
  /** Kept certifiable offsets, oldest first: 60 s of record time, fewer where they take much memory. None while diverged. */
  statePoints(): readonly StatePoint[]
  /** Tells of each new one once its batch is written, in order, none twice. */
  onStatePoint(listener: (point: StatePoint) => void): Disposable
  /**
   * Ranges at a kept certifiable offset, in order, each with its proof. Every value was held against its leaf before
   * it is shown.
   *
   * @throws {ScanError} OFFSET_PRUNED where no state is kept at the offset, OFFSET_NOT_REACHED; OVERLOADED
   *   where too many expired leaves lie in the range; STATE_DIVERGED; DEPENDENCY_UNAVAILABLE.
   */
  proveRanges(at: Offset, ranges: readonly KeyRange[]): Promise<readonly ProvenRange[]>
  /**
   * A page of the activity history at a kept certifiable offset, with its proof. Every row is held against the tree
   * before it is shown.
   *
   * @throws {ScanError} As `proveRanges`.
   */
  proveActivities(at: Offset, page: ActivitiesPage): Promise<ProvenActivities>
  /** What was found to differ, until the replica is wiped; null while nothing was. */
  diverged(): StateDivergence | null
}
