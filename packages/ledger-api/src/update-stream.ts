/**
 * The elements of one request for updates (docs/upstream.md §L3), as JSON texts in batches: bounded ranges in either
 * order, and open-ended streams with progress messages.
 */
import { withTimeout } from '@quorumscan/base'
import { LedgerError } from '@quorumscan/errors'
import type { Micros, Offset } from '@quorumscan/model'
import type { StoredUpdate, UpdateRange } from '@quorumscan/replica'
import type { LedgerReads } from './dependencies.ts'
import { formatLedgerInstant } from './instants.ts'
import type { Projection } from './projection.ts'
import type { UpdateFeed } from './update-feed.ts'

/** §L3.3: the time from the start of a stream to its first progress message. */
const FIRST_PROGRESS_MS = 500
/** The period of the next progress messages, if the offset has changed. */
const PROGRESS_INTERVAL_MS = 15_000
/**
 * Elements of one batch: some 100 kB, 1 ms of work that blocks other streams. More texts that wait to be sent cost the
 * garbage collector more.
 */
const BATCH_ELEMENTS = 64
/** An update may have a thousand events. */
const BATCH_CHARACTERS = 128 * 1024

type StreamDeps = Pick<LedgerReads, 'feed' | 'clock' | 'synchronizerId'>

/** Batches of elements, none of them empty. */
export type Elements = AsyncGenerator<readonly string[], void, undefined>

/** How the elements of a stream are read. */
export type StreamReader = {
  /** The reader takes at most so many elements, so the stream reads little more than they need. Default: all. */
  readonly elementsMax?: number | undefined
  /**
   * Called once, when everything up to the ledger end of the request was delivered. For a reader that wants to know,
   * the stream starts there: before it, a progress message would take the place of an element that exists. A bounded
   * stream ends there, and does not call it.
   */
  readonly onCaughtUp?: (() => void) | undefined
  /** Called with the number of rows that were read: updates, completions or contracts, also those not shown. */
  readonly onRows?: ((rows: number) => void) | undefined
}

/** A request that was checked. Its elements end, or fail with the signal's reason, when the signal aborts. */
export type OpenStream = (signal: AbortSignal, reader?: StreamReader) => Elements

/** PARTICIPANT_PRUNED_DATA_ACCESSED (§L3.1, row 13). */
export function prunedError(range: {
  readonly after: Offset
  readonly upTo: Offset | null
  readonly pruned: Offset
}): LedgerError {
  const { after, upTo, pruned } = range
  const message = `Updates from ${after + 1} to ${upTo ?? 'the ledger end'} were requested, which precedes pruned offset ${pruned}`
  const context = { earliest_offset: String(pruned) }
  return new LedgerError('PARTICIPANT_PRUNED_DATA_ACCESSED', message, { context })
}

/** Updates of an applied range. The stream ends with the range. */
export async function* boundedUpdates(
  { feed }: Pick<StreamDeps, 'feed'>,
  range: Omit<UpdateRange, 'bytes'>,
  options: UpdateStreamOptions,
): Elements {
  const { project, signal, elementsMax, onRows } = options
  let bytes = firstPortionBytes(elementsMax)
  let next = range.after < range.upTo ? readPortion(feed, { ...range, bytes }) : null
  while (next !== null) {
    const { updates, rest } = await next
    signal.throwIfAborted()
    bytes = nextPortionBytes(bytes)
    const readRest = () => (rest === null ? null : readPortion(feed, { ...rest, bytes }))
    // The next portion is read while the elements of this one are sent, unless they may be enough.
    next = elementsMax === undefined ? readRest() : null
    // A consumer that stops early never reads it.
    next?.catch(() => {})
    yield* projected(updates, { project, elementsMax, onRows })
    next ??= readRest()
  }
}

type UpdateStreamOptions = StreamReader & {
  readonly project: Projection
  readonly signal: AbortSignal
}

/** Stored bytes of a typical update. */
const UPDATE_BYTES = 2 * 1024
/** Stored bytes of the updates that are read at once. */
const PORTION_BYTES_MAX = 256 * 1024

/** About as many updates as the reader takes. */
export function firstPortionBytes(elementsMax: number | undefined): number {
  if (elementsMax === undefined) return PORTION_BYTES_MAX
  return Math.min(Math.max(elementsMax, 1) * UPDATE_BYTES, PORTION_BYTES_MAX)
}

/** Portions of a limited read double, as the filter may let few updates pass. */
export function nextPortionBytes(bytes: number): number {
  return Math.min(2 * bytes, PORTION_BYTES_MAX)
}

/** The progress of a stream. The record time is null while it is not known. */
export type StreamProgress = { readonly offset: Offset; readonly recordTime: Micros | null }

/** Updates after an offset until the signal aborts, with progress messages. */
export function endlessUpdates(
  deps: StreamDeps,
  after: Offset,
  options: UpdateStreamOptions,
): Elements {
  const { feed } = deps
  const { project, signal, elementsMax, onCaughtUp, onRows } = options
  let bytes = firstPortionBytes(elementsMax)
  return endless(deps, after, {
    member: 'update',
    signal,
    onCaughtUp,
    async *read(progress) {
      const end = feed.end()
      if (progress.offset >= end.offset) return progress.recordTime === null ? end : progress
      const range = { after: progress.offset, upTo: end.offset, order: 'asc', bytes } as const
      const { updates, rest } = await readPortion(feed, range)
      signal.throwIfAborted()
      bytes = nextPortionBytes(bytes)
      const last = yield* projected(updates, { project, elementsMax, onRows })
      return rest === null || last === undefined ? end : last
    },
  })
}

/**
 * The loop of all open-ended streams: yields what `read` yields, and progress messages. It fails with the signal's
 * reason once the signal aborts.
 */
export async function* endless(
  deps: StreamDeps,
  after: Offset,
  stream: {
    /** The member of an element that holds the update or the completion. */
    readonly member: 'update' | 'completionResponse'
    readonly signal: AbortSignal
    readonly onCaughtUp?: (() => void) | undefined
    /** Yields the elements after this offset and returns the new progress. */
    read(progress: StreamProgress): AsyncGenerator<readonly string[], StreamProgress, undefined>
    /** How long entries take until they can be read. Default: none. */
    readonly settleMs?: number
  },
): Elements {
  const { feed, clock, synchronizerId } = deps
  const { member, signal, settleMs, onCaughtUp } = stream
  const endAtRequest = feed.end().offset
  let isCaughtUp = false
  let progressMs = clock.monotonicMs() + FIRST_PROGRESS_MS
  let reported: Offset | null = null
  let progress: StreamProgress = { offset: after, recordTime: null }
  for (;;) {
    signal.throwIfAborted()
    progress = yield* stream.read(progress)
    const { offset, recordTime } = progress
    const nowMs = clock.monotonicMs()
    if (onCaughtUp !== undefined && !isCaughtUp) {
      isCaughtUp = offset >= endAtRequest
      progressMs = nowMs + FIRST_PROGRESS_MS
      if (isCaughtUp) onCaughtUp()
    }
    if (nowMs >= progressMs && recordTime !== null) {
      progressMs = nowMs + PROGRESS_INTERVAL_MS
      if (reported !== offset) {
        reported = offset
        const synchronizerTimes = [{ synchronizerId, recordTime: formatLedgerInstant(recordTime) }]
        const OffsetCheckpoint = { value: { offset, synchronizerTimes } }
        yield [JSON.stringify({ [member]: { OffsetCheckpoint } })]
      }
    }
    if (offset < feed.end().offset) {
      if (settleMs !== undefined) await clock.delay(settleMs, signal)
      continue
    }
    const timeoutMs = Math.max(0, progressMs - nowMs)
    const news = (ending: AbortSignal) => feed.waitForEntry(offset, ending)
    await withTimeout({ clock, timeoutMs, signal }, news, () => {})
  }
}

/** @throws {LedgerError} PARTICIPANT_PRUNED_DATA_ACCESSED. */
export async function readPortion(feed: UpdateFeed, range: UpdateRange) {
  const portion = await feed.read(range)
  if (portion.kind === 'updates') return portion
  throw prunedError({ after: range.after, upTo: range.upTo, pruned: portion.upTo })
}

/** Returns the last of the updates. */
function* projected(
  updates: Iterable<StoredUpdate>,
  {
    project,
    elementsMax = BATCH_ELEMENTS,
    onRows,
  }: Pick<UpdateStreamOptions, 'project' | 'elementsMax' | 'onRows'>,
) {
  const batchElements = Math.min(Math.max(elementsMax, 1), BATCH_ELEMENTS)
  let elements: string[] = []
  let characters = 0
  let last: StoredUpdate | undefined
  for (const update of updates) {
    const element = project(update)
    onRows?.(1)
    if (element !== null) {
      elements.push(element)
      characters += element.length
    }
    last = update
    if (elements.length < batchElements && characters < BATCH_CHARACTERS) continue
    yield elements
    elements = []
    characters = 0
  }
  if (elements.length > 0) yield elements
  return last
}
