/**
 * Takes snapshots while ingest continues. Ingest reports each batch before and after its write. A snapshot begins with
 * the batch that holds its offset. One is taken at a time: a due offset that arrives meanwhile is skipped.
 */
import type { Clock } from '@quorumscan/base'
import type { Snapshots } from '@quorumscan/ledger'
import type { Micros } from '@quorumscan/model'
import type { Genesis } from '@quorumscan/verifier'
import type { Store } from '../reads/contracts.ts'
import { isSnapshotOffset } from '../state-tree/signed-offsets.ts'
import type { StateHistory } from '../state-tree/state-history.ts'
import type { Step } from '../storage/step.ts'
import type { HeadState } from '../storage/store.ts'
import { type ChangeRecorder, createChangeRecorder, encodeSnapshot } from './encode-snapshot.ts'

/** A replica that lags more takes no snapshot: while it catches up, other members take them. */
const LAG_MICROS_MAX = 600_000_000

type SnapshotInProgress = {
  readonly step: Step
  readonly recorder: ChangeRecorder
  readonly abandoned: AbortController
  isBegun: boolean
}

export function createSnapshotMaker(context: {
  /** For reads during ingest, over a connection of its own. */
  readonly store: Store
  readonly genesis: Genesis
  readonly genesisHash: string
  readonly take: NonNullable<Snapshots['take']>
  /** Whether a snapshot is due at an offset. Default: as in the network. */
  readonly isDue?: typeof isSnapshotOffset
  readonly clock: Clock
  readonly onProblem: (error: Error) => void
}) {
  const { store, genesis, genesisHash, take, clock, isDue = isSnapshotOffset } = context
  let inProgress: SnapshotInProgress | null = null

  const abandon = (reason: string): void => {
    inProgress?.abandoned.abort(new Error(`the snapshot is abandoned: ${reason}`))
    inProgress = null
  }

  const begin = (own: SnapshotInProgress, headState: HeadState, history: StateHistory): void => {
    const { step, recorder, abandoned } = own
    const { offset, recordTime, historyHash, entryHash } = step
    const recent = history.recent().findLast(({ point }) => point.offset === offset)
    const found = headState.timeline.at(offset)
    if (recent === undefined || found === undefined) {
      abandon('its state is no longer stored')
      return
    }
    own.isBegun = true
    const { stateRoot } = recent.point
    const activityCount = recent.activities.size
    const head = { ...found, genesisHash, entryHash, stateRoot, activityCount }
    const { signal } = abandoned
    const encoded = encodeSnapshot({ store, head, recorder, genesis, signal })
    take({ offset, recordTime, historyHash }, encoded)
      .catch((error: unknown) => {
        if (!signal.aborted) context.onProblem(error as Error)
      })
      .finally(() => {
        if (inProgress === own) inProgress = null
      })
  }

  return {
    /** Ingest calls this before it writes a batch. */
    note(steps: readonly Step[], { head }: HeadState): void {
      let previous = head.recordTime
      for (const step of steps) {
        if (inProgress !== null && !inProgress.recorder.add(step))
          abandon('too many contracts have changed meanwhile')
        const isLate = step.recordTime < clock.nowMicros() - LAG_MICROS_MAX
        if (inProgress === null && !isLate && isDue(step, previous))
          inProgress = {
            step,
            recorder: createChangeRecorder(step.offset, store.layout.codec),
            abandoned: new AbortController(),
            isBegun: false,
          }
        previous = step.recordTime
      }
    },
    /** Rows and records that existed at this record time may not be cleaned up; null while no snapshot is taken. */
    retainFrom: (): Micros | null => inProgress?.step.recordTime ?? null,
    /** Ingest calls this after it has written a batch. */
    written(headState: HeadState, history: StateHistory | null): void {
      if (inProgress === null || inProgress.isBegun) return
      if (history === null) abandon('the stored state differs from the log')
      else begin(inProgress, headState, history)
    },
    /** Abandons the snapshot, because ingest loads the stored state again. */
    abandon: () => abandon('the stored state was replaced'),
  }
}

export type SnapshotMaker = ReturnType<typeof createSnapshotMaker>
