/** A replica with many names, written as ingest would, without the entries that lead there. */
import type { Genesis } from '@quorumscan/verifier'
import type { Redis } from 'ioredis'
import { loadOrStart } from '../ingest/genesis.ts'
import { loadState } from '../state-tree/load-state.ts'
import { treeRow } from '../storage/activity-member.ts'
import { createLayout } from '../storage/layout.ts'
import { writeSteps } from '../storage/store.ts'
import { type EntryFields, stepAfter } from './entry-steps.ts'
import { createRegistrations } from './registrations.ts'

const NAMES_PER_STEP = 500
const STEP_MICROS = 1_000_000

/** Adds the entries, with all contracts and rows of their registrations, to the stored state; returns the last offset. */
export async function fillNames(
  redis: Redis,
  network: {
    readonly genesis: Genesis
    readonly genesisHash: string
    /** As of `ReplicaOptions`. */
    readonly dueJobs?: readonly string[]
  },
  entries: readonly EntryFields[],
): Promise<number> {
  const { signal } = new AbortController()
  const context = { ...network, layout: createLayout(network) }
  const registrationOf = createRegistrations(network.genesisHash)
  const headState = await loadOrStart(redis, context, signal)
  const history = await loadState(redis, headState, context)
  if (history === null) throw new Error('another process writes')
  for (let first = 0; first < entries.length; first += NAMES_PER_STEP) {
    const recordTime = headState.head.recordTime + STEP_MICROS
    const begun = entries.slice(first, first + NAMES_PER_STEP)
    const bare = stepAfter(headState.head, { recordTime })
    const { offset } = bare
    const registrations = begun.map((fields, index) =>
      registrationOf(fields, { offset, recordTime, index }),
    )
    const step = {
      ...bare,
      delta: {
        ...bare.delta,
        created: registrations.flatMap(({ contracts }) => contracts),
        allocated: [...new Set(begun.map(({ user }) => user))],
      },
      activities: registrations.flatMap(({ rows }) => rows.map((row) => treeRow(row, recordTime))),
    }
    history.apply(step, false)
    const newest = history.recent().at(-1)
    if (newest?.point.offset !== offset) throw new Error('each second has a certifiable offset')
    const state = {
      offset,
      root: newest.point.stateRoot,
      activityCount: newest.activities.size,
    }
    await writeSteps(redis, headState, { steps: [step], state, layout: context.layout, signal })
  }
  return headState.head.offset
}
