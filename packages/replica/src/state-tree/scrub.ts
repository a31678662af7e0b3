/**
 * Holds all that is stored against the state tree, a portion at a time, over and over: what somebody changed by
 * hand is found even if nobody reads it.
 */
import type { Clock } from '@quorumscan/base'
import { isScanError } from '@quorumscan/errors'
import type { Genesis } from '@quorumscan/verifier'
import type { Redis } from 'ioredis'
import { isConnectionError, isReplyError } from '../connection.ts'
import { activityRulesOf } from '../reads/activity-reads.ts'
import { HEAD_FIELD, KEYS } from '../storage/keys.ts'
import type { Layout } from '../storage/layout.ts'
import { areDocumentsEqual, comparableState, differingName, rangeOfNames } from './compare-state.ts'
import { proveActivities } from './prove-activities.ts'
import { readAllDocuments, readNamesAfter } from './read-stored.ts'
import { differs, type StateFollower } from './state-follower.ts'

/** 400 names a second: 100 000 in four minutes, with one part in a hundred of a processor. */
const SCRUB_NAMES = 100
/** As many rows, which have 1 kB each. */
const SCRUB_ROWS = 100
const SCRUB_INTERVAL_MS = 250
/** The rows, which the load of the state does not read, are gone through at a start in one go: 5 000 a second. */
const FIRST_PASS_INTERVAL_MS = 10
/** Before it begins again, with the documents, which are dear: a small network is through at once. */
const SCRUB_PAUSE_MS = 1000

/** Runs until the signal aborts. */
export async function scrub(
  redis: Redis,
  context: {
    readonly follower: StateFollower
    readonly genesis: Genesis
    readonly layout: Layout
    readonly clock: Clock
    readonly signal: AbortSignal
  },
): Promise<void> {
  const { follower } = context
  const names = scrubOver(context, async (after) => {
    if (after === null) await scrubDocuments(redis, context)
    return scrubNames(redis, follower, after)
  })
  const rows = scrubOver(
    context,
    (after) => scrubActivities(redis, context, after),
    FIRST_PASS_INTERVAL_MS,
  )
  await Promise.all([names, rows])
}

/**
 * Over all there is, a portion at a time, from the first one as soon as there is a state to hold it against.
 *
 * @param portion - Goes on behind what it gave last, null at first; gives null when it is through.
 */
async function scrubOver(
  { follower, clock, signal }: Pick<Parameters<typeof scrub>[1], 'follower' | 'clock' | 'signal'>,
  portion: (after: string | null) => Promise<string | null>,
  firstPassIntervalMs = SCRUB_INTERVAL_MS,
): Promise<void> {
  let after: string | null = null
  let waitMs = SCRUB_INTERVAL_MS
  let intervalMs = firstPassIntervalMs
  while (!signal.aborted) {
    try {
      await clock.delay(waitMs, signal)
      waitMs = SCRUB_INTERVAL_MS
      if (follower.keeper() === null) continue
      after = await portion(after)
      if (after === null) intervalMs = SCRUB_INTERVAL_MS
      waitMs = after === null ? SCRUB_PAUSE_MS : intervalMs
    } catch (error) {
      // Whoever reads is told that Redis is away.
      if (
        !signal.aborted &&
        !isConnectionError(error) &&
        !isReplyError(error) &&
        !isScanError(error)
      )
        throw error
    }
  }
}

/** The name behind which to go on; null from the first one. */
async function scrubNames(
  redis: Redis,
  follower: StateFollower,
  after: string | null,
): Promise<string | null> {
  const { head, names } = await readNamesAfter(redis, after, SCRUB_NAMES)
  const last = names.size < SCRUB_NAMES ? null : ([...names.keys()].at(-1) ?? null)
  follower.compare(head, (keeper, kept) => {
    const name = differingName(keeper, kept, { range: rangeOfNames(after, last), values: names })
    return name === undefined ? null : differs(name)
  })
  return last
}

/** The row behind which to go on; null from the first one. */
async function scrubActivities(
  redis: Redis,
  { follower, genesis }: Pick<Parameters<typeof scrub>[1], 'follower' | 'genesis'>,
  after: string | null,
): Promise<string | null> {
  const stored = await redis.hgetBuffer(KEYS.names, HEAD_FIELD)
  const keeper = follower.keeper()
  const kept = keeper === null || stored === null ? undefined : comparableState(keeper, stored)
  if (kept === undefined) return after
  const context = { redis, follower, rules: activityRulesOf(genesis) }
  const page = { after, limit: SCRUB_ROWS, order: 'asc' } as const
  const { proven } = await proveActivities(context, kept, page)
  return proven.rows.at(-1)?.eventId ?? null
}

async function scrubDocuments(
  redis: Redis,
  { follower, genesis, layout }: Parameters<typeof scrub>[1],
): Promise<void> {
  const { head, documents } = await readAllDocuments(redis)
  follower.compare(head, (keeper, kept) =>
    areDocumentsEqual(keeper, kept, { documents, layout, genesis })
      ? null
      : 'The rules or addresses of the network differ.',
  )
}
