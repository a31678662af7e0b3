/** Loads the state tree from the stored state, at a start. */
import { assert } from '@quorumscan/base'
import type { Offset } from '@quorumscan/model'
import type { Genesis } from '@quorumscan/verifier'
import type { Redis } from 'ioredis'
import { readAllDocuments, readNamesAfter } from '../reads/reads.ts'
import { readFrontier } from '../storage/activity-tiles.ts'
import { parseEntryBody } from '../storage/entry-body.ts'
import { decodeSpan } from '../storage/head.ts'
import type { Layout } from '../storage/layout.ts'
import type { EntryFacts } from '../storage/plan-versions.ts'
import type { HeadState } from '../storage/store.ts'
import { contractsAt, decodeVersions, isActiveAt, type Version } from '../storage/versions.ts'
import { createStateHistory, type StateHistory } from './state-history.ts'

/** Names of one command: 300 µs of Redis, and some 20 ms of this process, which then lets others work. */
const PORTION = 1_000

/** The stored state differs from the log. The message says why. */
export class StateUnusableError extends Error {
  override readonly name = 'StateUnusableError'
}

/**
 * The state at the head. The state at the last certifiable offset is stored too, and its root is compared
 * with the one that was written with the head, unless the horizon has passed that offset.
 *
 * Returns null if the stored replica changed during the load, so that it has to be loaded again.
 *
 * @throws {StateUnusableError} If the stored state has another root, or none.
 */
export async function loadState(
  redis: Redis,
  headState: HeadState,
  context: { readonly genesis: Genesis; readonly layout: Layout },
): Promise<StateHistory | null> {
  const { head, timeline } = headState
  const { offset: markedAt, root, activityCount } = head.state
  if (root === null)
    throw new StateUnusableError('The stored state was found to differ from the log.')
  // Below the horizon, versions that ended may be deleted.
  const isComparable = markedAt >= head.horizon
  const at = isComparable ? markedAt : head.offset
  const point = timeline.at(at)
  assert(point !== undefined, 'every offset from the horizon to the head is in the timeline')
  const history = createStateHistory(context.genesis)
  const changes: { readonly change: 'add' | 'remove'; readonly entry: EntryFacts }[] = []
  const addVersion = (version: Version): void => {
    const [isBefore, isNow] = [isActiveAt(version, at), isActiveAt(version, head.offset)]
    if (!isBefore && !isNow) return
    const entry = { ...parseEntryBody(version.body), ...version, expiresAt: version.expires }
    if (isBefore) history.add(entry)
    if (isBefore !== isNow) changes.push({ change: isNow ? 'add' : 'remove', entry })
  }
  const isReadable = (stored: Buffer | null): boolean => {
    if (stored === null) return false
    const { offset, horizon } = decodeSpan(stored)
    return offset >= head.offset && horizon <= at
  }

  let after: string | null = null
  do {
    const { head: stored, names } = await readNamesAfter(redis, after, PORTION)
    if (!isReadable(stored)) return null
    readingStored(() => {
      for (const value of names.values()) decodeVersions(value).forEach(addVersion)
    })
    after = names.size < PORTION ? null : ([...names.keys()].at(-1) ?? null)
  } while (after !== null)
  const activities = isComparable ? await readFrontier(redis, activityCount) : headState.activities
  const { head: stored, documents } = await readAllDocuments(redis)
  if (!isReadable(stored)) return null
  readingStored(() => {
    const documentsAt = (offset: Offset) => contractsAt(documents, offset, context.layout)
    history.setDocuments(documentsAt(at))
    history.setActivities(activities)
    if (isComparable) {
      history.commit(point)
      const found = history.recent()[0]?.point.stateRoot
      if (found !== root)
        throw new StateUnusableError(
          `The stored state has the state root ${found} at offset ${at}; the log has ${root}.`,
        )
    }
    for (const { change, entry } of changes) history[change](entry)
    history.setDocuments(documentsAt(head.offset))
    history.setActivities(headState.activities)
    history.moveTo(head)
  })
  return history
}

/** Stored data that was changed by hand may be malformed. Then its decoders throw any error. */
function readingStored(read: () => void): void {
  try {
    read()
  } catch (cause) {
    if (cause instanceof StateUnusableError) throw cause
    throw new StateUnusableError('The stored state cannot be read.', { cause })
  }
}
