/**
 * Takes snapshots while ingest goes on. It is told of each batch before it is written, and when it was; a snapshot
 * whose offset the batch holds begins with it. One at a time: an offset that comes while another one is being taken
 * is left out.
 */
import type { Clock } from '@quorumscan/base'
import type { Snapshots } from '@quorumscan/ledger'
import type { Micros } from '@quorumscan/model'
import type { Genesis } from '@quorumscan/verifier'
import type { Step } from '../ingest/step.ts'
import type { Mirror } from '../ingest/store.ts'
import type { Store } from '../reads/contracts.ts'
import { isSnapshotOffset } from '../state-tree/signed-offsets.ts'
import type { StateKeeper } from '../state-tree/state-keeper.ts'
import { describeState } from './describe-state.ts'
import { createSince, type Since } from './since.ts'

/** Who is further behind than this takes none: while a log is caught up with, its snapshots are those of others. */
const LAG_MICROS_MAX = 600_000_000

type Taking = {
  readonly step: Step
  readonly since: Since
  readonly abandoned: AbortController
  isBegun: boolean
}

export function createSnapshotMaker(context: {
  /** For reading beside the ingest. */
  readonly store: Store
  readonly genesis: Genesis
  readonly genesisHash: string
  readonly take: NonNullable<Snapshots['take']>
  /** Which offsets have one; those of the network unless given. */
  readonly isDue?: typeof isSnapshotOffset
  readonly clock: Clock
  readonly onProblem: (error: Error) => void
}) {
  const { store, genesis, genesisHash, take, clock, isDue = isSnapshotOffset } = context
  let taking: Taking | null = null

  const abandon = (reason: string): void => {
    taking?.abandoned.abort(new Error(`the snapshot is given up: ${reason}`))
    taking = null
  }

  const begin = (own: Taking, mirror: Mirror, keeper: StateKeeper): void => {
    const { step, since, abandoned } = own
    const { offset, recordTime, historyHash, entryHash } = step
    const kept = keeper.kept().findLast(({ point }) => point.offset === offset)
    const instant = mirror.timeline.at(offset)
    if (kept === undefined || instant === undefined) {
      abandon('record time made a leap')
      return
    }
    own.isBegun = true
    const { stateRoot } = kept.point
    const activityCount = kept.activities.size
    const head = { ...instant, genesisHash, entryHash, stateRoot, activityCount }
    const { signal } = abandoned
    take(
      { offset, recordTime, historyHash },
      describeState({ store, head, since, genesis, signal }),
    )
      .catch((error: unknown) => {
        if (!signal.aborted) context.onProblem(error as Error)
      })
      .finally(() => {
        if (taking === own) taking = null
      })
  }

  return {
    /** Receives what is about to be written. */
    note(steps: readonly Step[], { head }: Mirror): void {
      let previous = head.recordTime
      for (const step of steps) {
        if (taking !== null && !taking.since.add(step)) abandon('too much has changed meanwhile')
        const isLate = step.recordTime < clock.nowMicros() - LAG_MICROS_MAX
        if (taking === null && !isLate && isDue(step, previous))
          taking = {
            step,
            since: createSince(step.offset, store.layout.codec),
            abandoned: new AbortController(),
            isBegun: false,
          }
        previous = step.recordTime
      }
    },
    /** Nothing that was there at this record time may be cleaned up; null while none is taken. */
    held: (): Micros | null => taking?.step.recordTime ?? null,
    /** It was written. */
    written(mirror: Mirror, keeper: StateKeeper | null): void {
      if (taking === null || taking.isBegun) return
      if (keeper === null) abandon('what is stored is not what the log made')
      else begin(taking, mirror, keeper)
    },
    /** What is stored is not followed any more: what was begun is given up. */
    abandon: () => abandon('what is stored is another state'),
  }
}

export type SnapshotMaker = ReturnType<typeof createSnapshotMaker>
