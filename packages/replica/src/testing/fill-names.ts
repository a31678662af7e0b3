/** A replica with many names, written as ingest would, without the entries that lead there. */
import type { Genesis } from '@quorumscan/consensus'
import type { Redis } from 'ioredis'
import { loadOrStart } from '../ingest/genesis.ts'
import { writeSteps } from '../ingest/store.ts'
import { loadState } from '../state-tree/load-state.ts'
import { createLayout } from '../storage/layout.ts'
import { type EntryFields, stepAfter } from './entry-steps.ts'

const NAMES_PER_STEP = 500
const STEP_MICROS = 1_000_000

/** Adds the entries to what is stored; returns the last offset. */
export async function fillNames(
  redis: Redis,
  network: { readonly genesis: Genesis; readonly genesisHash: string },
  entries: readonly EntryFields[],
): Promise<number> {
  const { signal } = new AbortController()
  const context = { ...network, layout: createLayout(network) }
  const mirror = await loadOrStart(redis, context, signal)
  const keeper = await loadState(redis, mirror, context)
  if (keeper === null) throw new Error('somebody else writes')
  for (let first = 0; first < entries.length; first += NAMES_PER_STEP) {
    const created = entries.slice(first, first + NAMES_PER_STEP)
    const recordTime = mirror.head.recordTime + STEP_MICROS
    const step = stepAfter(mirror.head, { recordTime, created })
    keeper.apply(step, false)
    const point = keeper.kept().at(-1)?.point
    if (point?.offset !== step.offset) throw new Error('each second has a certifiable offset')
    const state = { offset: point.offset, root: point.stateRoot, activityCount: 0 }
    await writeSteps(redis, mirror, { steps: [step], state, layout: context.layout, signal })
  }
  return mirror.head.offset
}
