/**
 * Compares all stored data with the state tree, a portion at a time, again and again. So data that was changed by hand
 * is found even if no client reads it.
 */
import type { Clock } from '@quorumscan/base'
import { isScanError } from '@quorumscan/errors'
import { repeat } from '@quorumscan/runtime'
import type { Genesis } from '@quorumscan/verifier'
import type { Redis } from 'ioredis'
import { isConnectionError, isReplyError } from '../connection.ts'
import { readAllDocuments, readNamesAfter } from '../reads/reads.ts'
import { readHeadBytes } from '../storage/head-reads.ts'
import type { Layout } from '../storage/layout.ts'
import { areDocumentsEqual, comparableState, differingLeaf, rangeOfNames } from './compare-state.ts'
import { proveActivities } from './prove-activities.ts'
import type { StateTreeUpdater } from './tree-updater.ts'

/** 400 names per second: 100 000 in four minutes, with one part in a hundred of a processor. */
const SCRUB_NAMES = 100
/** Activity rows per read, of 1 kB each. */
const SCRUB_ROWS = 100
const SCRUB_INTERVAL_MS = 250
/** Loading the state does not read the rows. After a start they are scrubbed at once, 5 000 per second. */
const FIRST_PASS_INTERVAL_MS = 10
/** The pause before the next pass. A pass begins with the documents, which are expensive to read. */
const SCRUB_PAUSE_MS = 1000

type ScrubParts = {
  readonly redis: Redis
  readonly treeUpdater: StateTreeUpdater
  readonly genesis: Genesis
  readonly layout: Layout
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Runs until the signal aborts. */
export async function scrub(parts: ScrubParts): Promise<void> {
  const names = scrubOver(parts, SCRUB_INTERVAL_MS, async (after) => {
    if (after === null) await scrubDocuments(parts)
    return scrubNames(parts, after)
  })
  const rows = scrubOver(parts, FIRST_PASS_INTERVAL_MS, (after) => scrubActivities(parts, after))
  await Promise.all([names.ended, rows.ended])
}

/**
 * Goes through all names or rows, a portion at a time, and starts when the state tree is loaded.
 *
 * @param portion - Continues after the name or row that it returned last, null at first. Returns null at the end.
 */
function scrubOver(
  { treeUpdater, clock, signal }: ScrubParts,
  firstPassIntervalMs: number,
  portion: (after: string | null) => Promise<string | null>,
) {
  let after: string | null = null
  let intervalMs = firstPassIntervalMs
  let waitMs = SCRUB_INTERVAL_MS
  const work = async () => {
    waitMs = SCRUB_INTERVAL_MS
    if (treeUpdater.history() === null) return
    after = await portion(after)
    if (after === null) intervalMs = SCRUB_INTERVAL_MS
    waitMs = after === null ? SCRUB_PAUSE_MS : intervalMs
  }
  return repeat(work, {
    clock,
    everyMs: () => waitMs,
    waitsFirst: true,
    signal,
    onError(error) {
      // Readers receive the error when Redis is down.
      if (!isConnectionError(error) && !isReplyError(error) && !isScanError(error)) throw error
    },
  })
}

/** The name after which to continue; null at the end. */
async function scrubNames({ redis, treeUpdater }: ScrubParts, after: string | null) {
  const { head, names } = await readNamesAfter(redis, after, SCRUB_NAMES)
  const last = names.size < SCRUB_NAMES ? null : ([...names.keys()].at(-1) ?? null)
  const stored = { range: rangeOfNames(after, last), values: names }
  treeUpdater.compare(head, (history, recent) => differingLeaf(history, recent, stored))
  return last
}

/** The row after which to continue; null at the end. */
async function scrubActivities(parts: ScrubParts, after: string | null): Promise<string | null> {
  const { redis, treeUpdater } = parts
  const stored = await readHeadBytes(redis)
  const history = treeUpdater.history()
  const recent = history === null || stored === null ? undefined : comparableState(history, stored)
  if (recent === undefined) return after
  const page = { after, limit: SCRUB_ROWS, order: 'asc' } as const
  const { proven } = await proveActivities(parts, recent, page)
  return proven.rows.at(-1)?.eventId ?? null
}

async function scrubDocuments({ redis, treeUpdater, genesis, layout }: ScrubParts): Promise<void> {
  const { head, documents } = await readAllDocuments(redis)
  treeUpdater.compare(head, (history, recent) =>
    areDocumentsEqual(history, recent, { documents, layout, genesis })
      ? null
      : 'The rules or addresses of the network differ.',
  )
}
