/**
 * The elements of one request for updates (docs/upstream.md §L3), as JSON texts in batches:
 * bounded ranges in either order, and open-ended ones with checkpoints that show how far they are.
 */
import { type Clock, within } from '@quorumscan/base'
import { LedgerError } from '@quorumscan/errors'
import type { Micros, Offset } from '@quorumscan/model'
import type { StoredUpdate, UpdateRange } from '@quorumscan/replica'
import { formatInstant } from './instants.ts'
import type { Projection } from './projection.ts'
import type { UpdateFeed } from './update-feed.ts'

/** §L3.3: after the start, a checkpoint tells where the stream stands … */
const FIRST_CHECKPOINT_MS = 500
/** … and then so often, where it has moved on. */
const CHECKPOINT_INTERVAL_MS = 15_000
/**
 * So many elements are sent at once: some 100 kB, 1 ms of work, which others wait for. Texts that wait to be
 * sent cost the collector of garbage the more, the more of them there are.
 */
const BATCH_ELEMENTS = 64

export type StreamDeps = {
  readonly feed: UpdateFeed
  readonly clock: Clock
  readonly synchronizerId: string
}

/** Elements that belong together, never none of them. */
export type Elements = AsyncGenerator<readonly string[], void, undefined>

/** PARTICIPANT_PRUNED_DATA_ACCESSED (§L3.1, row 13). */
export function prunedError(range: {
  readonly after: Offset
  readonly upTo: Offset | null
  readonly pruned: Offset
}): LedgerError {
  const { after, upTo, pruned } = range
  return new LedgerError(
    'PARTICIPANT_PRUNED_DATA_ACCESSED',
    `Updates from ${after + 1} to ${upTo ?? 'the ledger end'} were asked for, which precedes pruned offset ${pruned}`,
    { context: { earliest_offset: String(pruned) } },
  )
}

/** Updates of a range that has been applied; ends with it. */
export async function* boundedUpdates(
  deps: Pick<StreamDeps, 'feed'>,
  range: Omit<UpdateRange, 'bytes'>,
  options: { readonly project: Projection; readonly signal: AbortSignal },
): Elements {
  const { project, signal } = options
  let next = range.after < range.upTo ? fetch(deps, range) : null
  while (next !== null) {
    const { updates, rest } = await next
    signal.throwIfAborted()
    // Fetched while the elements before are being sent.
    next = rest === null ? null : fetch(deps, rest)
    // Whoever stops early leaves it unread.
    next?.catch(() => {})
    yield* projected(updates, project)
  }
}

/** How far a stream is; without a record time where that is not known. */
export type Position = { readonly offset: Offset; readonly recordTime: Micros | null }

/** Updates after an offset for as long as the signal lets it, with checkpoints. */
export function endlessUpdates(
  deps: StreamDeps,
  after: Offset,
  options: { readonly project: Projection; readonly signal: AbortSignal },
): Elements {
  const { feed } = deps
  const { project, signal } = options
  return endless(deps, after, {
    member: 'update',
    signal,
    async *read(position) {
      const end = feed.end()
      if (position.offset >= end.offset) return position.recordTime === null ? end : position
      const range = { after: position.offset, upTo: end.offset, order: 'asc' } as const
      const { updates, rest } = await fetch(deps, range)
      signal.throwIfAborted()
      const last = yield* projected(updates, project)
      return rest === null || last === undefined ? end : last
    },
  })
}

/**
 * The pump of all open-ended streams: what `read` yields, and checkpoints, until the signal aborts; then it fails with
 * the signal's reason.
 */
export async function* endless(
  deps: StreamDeps,
  after: Offset,
  stream: {
    /** That of an element that holds the update, or the completion. */
    readonly member: 'update' | 'completionResponse'
    readonly signal: AbortSignal
    /** Yields what comes after the position, and returns how far that is. */
    read(position: Position): AsyncGenerator<readonly string[], Position, undefined>
    /** Until what the ledger has can be read; at once unless given. */
    readonly settleMs?: number
  },
): Elements {
  const { feed, clock, synchronizerId } = deps
  const { member, signal, settleMs } = stream
  let checkpointMs = clock.monotonicMs() + FIRST_CHECKPOINT_MS
  let told: Offset | null = null
  let position: Position = { offset: after, recordTime: null }
  for (;;) {
    signal.throwIfAborted()
    position = yield* stream.read(position)
    const { offset, recordTime } = position
    const nowMs = clock.monotonicMs()
    if (nowMs >= checkpointMs && recordTime !== null) {
      checkpointMs = nowMs + CHECKPOINT_INTERVAL_MS
      if (told !== offset) {
        told = offset
        const synchronizerTimes = [{ synchronizerId, recordTime: formatInstant(recordTime) }]
        const OffsetCheckpoint = { value: { offset, synchronizerTimes } }
        yield [JSON.stringify({ [member]: { OffsetCheckpoint } })]
      }
    }
    if (offset < feed.end().offset) {
      if (settleMs !== undefined) await clock.delay(settleMs, signal)
      continue
    }
    const timeoutMs = Math.max(0, checkpointMs - nowMs)
    const news = (ending: AbortSignal) => feed.waitBehind(offset, ending)
    await within({ clock, timeoutMs, signal }, news, () => {})
  }
}

async function fetch(
  { feed }: Pick<StreamDeps, 'feed'>,
  range: UpdateRange,
): Promise<{ readonly updates: Iterable<StoredUpdate>; readonly rest: UpdateRange | null }> {
  const portion = await feed.read(range)
  if (portion.kind === 'pruned')
    throw prunedError({ after: range.after, upTo: range.upTo, pruned: portion.upTo })
  return portion
}

/** Returns the last of the updates. */
function* projected(
  updates: Iterable<StoredUpdate>,
  project: Projection,
): Generator<readonly string[], StoredUpdate | undefined, undefined> {
  let elements: string[] = []
  let last: StoredUpdate | undefined
  for (const update of updates) {
    const element = project(update)
    if (element !== null) elements.push(element)
    last = update
    if (elements.length < BATCH_ELEMENTS) continue
    yield elements
    elements = []
  }
  if (elements.length > 0) yield elements
  return last
}
