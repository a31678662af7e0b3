/** Options and records of runs of certified readers. */

import type * as certified from '@quorumscan/reader/certified'
import type {
  CertifiedOutcome,
  CertifiedReader,
  CertifiedReadOptions,
} from '@quorumscan/reader/certified'
import type { Lookup } from '@quorumscan/verifier'
import type { CertifiedEntry, CertifiedPage } from '@quorumscan/verifier/certified'
import type { Condition } from '../sim-cluster.ts'

export type CertifiedRunOptions = {
  readonly seed: number
  readonly readCount: number
  /**
   * `at-most-f`: at most f nodes lie. `beyond-f`: up to 2f nodes collude. `strangers-lie`: readers have a trust rule, and
   * all other nodes lie, with as many of its members as it tolerates. `wrong-clocks`: at most f nodes lie, and the clocks
   * of devices are wrong and are set while readers run.
   */
  readonly mode?: 'at-most-f' | 'beyond-f' | 'strangers-lie' | 'wrong-clocks'
  /** Drawn from the seed unless given. */
  readonly nodeCount?: number
  /** The reader: one with a mistake, to test the checkers. Its queries belong to it. Default: the real one. */
  readonly readerModule?: typeof certified
  /** The lies that may occur. Default: all. */
  readonly lies?: readonly string[]
  /** The faults of honest nodes that may occur. Default: all. */
  readonly faults?: readonly Condition['kind'][]
}

export type Page = {
  readonly prefix: string
  readonly pageSize: number
  readonly pageToken: string | null
}

export type CertifiedRecord = {
  readonly client: number
  /** A restarted client has another reader, which stores only its floor. */
  readonly reader: CertifiedReader
  readonly options: CertifiedReadOptions
  readonly signersNeeded: number
  readonly startMs: number
  readonly endMs: number
  /** The time at the end, µs. */
  readonly endMicros: number
  /** Whether the clock of the device was behind while the reader existed. */
  readonly isBehind: boolean
  /** How much of its age an answer could hide, because the clock was behind by so little that no answer proves it. */
  readonly hiddenMs: number
  readonly steadyCount: number
  readonly answeringCount: number
  /** Newest offset that every honest node had certified a second before the read began, if all were steady. */
  readonly heldFrom: number | null
  /** The reader knows the address of no honest node that answers, because those have moved. */
  readonly isLost: boolean
  readonly waitMs: number
  readonly stalledMs: number
} & ReadResult

export type ReadResult =
  | { readonly lookup: Lookup; readonly outcome: CertifiedOutcome<CertifiedEntry | null> }
  | { readonly page: Page; readonly outcome: CertifiedOutcome<CertifiedPage> }
