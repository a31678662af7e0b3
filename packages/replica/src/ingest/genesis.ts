/** The state at offset 0, and the check that a stored replica has this genesis. */
import { assert } from '@quorumscan/base'
import { genesisDelta } from '@quorumscan/ledger'
import type { Genesis } from '@quorumscan/verifier'
import { EMPTY_FRONTIER } from '@quorumscan/verifier/state-tree'
import type { Redis } from 'ioredis'
import { createStateHistory } from '../state-tree/state-history.ts'
import { deleteReplica } from '../storage/delete-replica.ts'
import { ReplicaStateError } from '../storage/head.ts'
import type { Layout } from '../storage/layout.ts'
import { planBatch } from '../storage/plan.ts'
import {
  planSyntheticEntries,
  syntheticEntries,
  touchedVersions,
} from '../storage/plan-versions.ts'
import type { Step } from '../storage/step.ts'
import { loadHeadState, writeFenced } from '../storage/store.ts'
import { createTimeline } from '../storage/timeline.ts'

export type GenesisContext = {
  readonly genesis: Genesis
  readonly genesisHash: string
  readonly layout: Layout
}

/**
 * The head state of the stored replica. Writes the genesis first if Redis is empty.
 *
 * @throws {ReplicaStateError} If the stored replica is of another genesis or another layout.
 */
export async function loadOrStart(redis: Redis, context: GenesisContext, signal: AbortSignal) {
  const { genesis, genesisHash, layout } = context
  for (;;) {
    const headState = await loadHeadState(redis)
    if (headState !== null) {
      const stored = headState.head.genesisHash
      if (stored !== genesisHash)
        throw new ReplicaStateError(
          `The replica in Redis has genesis ${stored}, not ${genesisHash}: configure the right genesis or Redis. Wipe it only if its network is given up.`,
        )
      if (headState.head.dueHash !== layout.dueHash)
        throw new ReplicaStateError(
          'The replica in Redis was written for other jobs than this process has: wipe it, it is rebuilt from the log.',
          { isOfOtherLayout: true },
        )
      return headState
    }
    // Delete the rest of a replica that was being written or deleted.
    await deleteReplica(redis)
    const step = {
      offset: 0,
      recordTime: genesis.recordTime,
      historyHash: genesisHash,
      // There are no bytes at offset 0; the log is never asked for them.
      entryHash: genesisHash,
      delta: genesisDelta(genesis, genesisHash),
    }
    const state = { offset: 0, root: genesisRoot(genesis, step), activityCount: 0 }
    const { documents } = touchedVersions([step])
    const { commands, head } = planBatch({
      head: { genesisHash, dueHash: layout.dueHash, endedCount: 0, cleanedCount: 0 },
      layout,
      timeline: createTimeline(),
      activities: EMPTY_FRONTIER,
      steps: [step],
      state,
      stored: {
        names: new Map(),
        documents: new Map(documents.map((entity) => [entity, []])),
        totals: new Map(),
      },
      expired: { at: genesis.recordTime, seen: [], changes: [] },
    })
    planSyntheticEntries(commands, syntheticEntries(genesis))
    await writeFenced(redis, null, { head, commands, signal })
  }
}

/** The root of the state at offset 0, hex. */
function genesisRoot(genesis: Genesis, step: Step): string {
  const history = createStateHistory(genesis)
  for (const entry of syntheticEntries(genesis)) history.add(entry)
  history.apply(step, false)
  const [first] = history.recent()
  assert(first !== undefined, 'offset 0 is certifiable')
  return first.point.stateRoot
}
