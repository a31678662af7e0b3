/**
 * Follows the log for a replica. The ordering client verifies signature, chain, gaps and times, and does not interpret
 * entries. At the start of each stream it checks that the log still contains the groups that it has
 * read; heartbeats show that the log is as long. Two groups for one offset are a `LogForkError` that carries both.
 */
import { type Clock, type Random, sha256, toHex } from '@quorumscan/base'
import { isScanError, ScanError } from '@quorumscan/errors'
import type { LogEntry, LogSource, Ordering } from '@quorumscan/ledger'
import { type ChainEnd, chainEndOf, chainStart, extendChain, openRawGroup } from './chain.ts'
import { idOf } from './connection.ts'
import { createFrameDecoder, type Frame } from './frame.ts'
import { type LogGenesis, LogGroupError, type SignedGroup } from './group.ts'
import { LogForkError, LogUnavailableError } from './log-errors.ts'
import { FOLLOW_START, type FollowEvent, stepFollow } from './reconnect.ts'

type FollowRequest = Parameters<Ordering['follow']>[0]

export type OrderingClientOptions = {
  readonly log: LogSource
  readonly genesis: LogGenesis
  /** Receives every verified group before its entries are delivered. */
  readonly store?: (groups: readonly SignedGroup[]) => Promise<void>
  readonly clock: Clock
  readonly random: Random
  /** Receives the error of every stream that was lost or refused, and of every group that did not verify. */
  readonly onProblem?: (error: LogUnavailableError | LogGroupError) => void
}

/** A stream that brings no frame for so long has failed: heartbeats are frames, too. */
const FRAMELESS_MS_MAX = 10_000

/** The ordering port over streams of frames. Each `follow` has a stream of its own. */
export function createOrderingClient(options: OrderingClientOptions): Ordering {
  return {
    submit: (bytes, signal) => options.log.submit(bytes, signal),
    follow: (request) => follow(options, request),
  }
}

async function* follow(options: OrderingClientOptions, request: FollowRequest) {
  const { clock, random } = options
  const { signal } = request
  let end: ChainEnd | null = request.from === 0 ? chainStart(options.genesis) : null
  let state = FOLLOW_START
  const step = (event: FollowEvent): number | null => {
    const stepped = stepFollow(state, event, random)
    state = stepped.state
    return stepped.retryMs
  }
  while (!signal.aborted) {
    let retryMs = 0
    try {
      for await (const read of readStream(options, request, end)) {
        end = read.end
        step(read.groups.length > 0 ? 'grown' : 'joined')
        if (read.groups.length > 0) await options.store?.(read.groups)
        for (let start = 0; start < read.entries.length; start += request.batchEntriesMax) {
          if (signal.aborted) return
          yield read.entries.slice(start, start + request.batchEntriesMax)
        }
      }
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof LogForkError) throw regressed(error)
      if (!(error instanceof LogGroupError || error instanceof LogUnavailableError)) throw error
      const isDamage = error instanceof LogGroupError
      const nextMs = step(isDamage ? 'damaged' : 'lost')
      if (nextMs === null) throw regressed(error)
      options.onProblem?.(error)
      retryMs = nextMs
    }
    await clock.delay(retryMs, signal).catch(() => undefined) // Aborted: the loop ends.
  }
}

/** What one piece of a stream brought. */
type Read = {
  readonly end: ChainEnd
  /** The groups after the position where the stream was joined. */
  readonly groups: readonly SignedGroup[]
  readonly entries: readonly LogEntry[]
}

/**
 * One stream, from what is known of the log on.
 *
 * @throws {LogUnavailableError} When it ends, or cannot be opened.
 * @throws {LogGroupError} @throws {LogForkError} For an invalid group. The groups before it were delivered.
 */
async function* readStream(
  options: OrderingClientOptions,
  request: FollowRequest,
  known: ChainEnd | null,
): AsyncGenerator<Read> {
  const { clock, genesis } = options
  const { signal } = request
  const decoder = createFrameDecoder()
  const from = known?.offset ?? request.from
  /** Null until the group that holds `from` was compared. Offset 0 has no group. */
  let end = from === 0 ? known : null
  let framedMs = clock.monotonicMs()

  for await (const piece of pieces(options.log, { from: Math.max(1, from), signal })) {
    const groups: SignedGroup[] = []
    const entries: LogEntry[] = []
    let failure: unknown = null
    try {
      for (const frame of decoder.add(piece)) {
        framedMs = clock.monotonicMs()
        if (frame.group === null) {
          assertReaches(frame, end?.offset ?? from, genesis)
          continue
        }
        const group = openRawGroup({ id: idOf(frame.offset), ...frame.group }, genesis)
        if (end === null) {
          assertSame(group, { known, request })
          end = chainEndOf(group)
          entries.push(...group.entries.filter(({ offset }) => offset > from))
        } else {
          assertNoFork(end, group)
          end = extendChain(end, group)
          groups.push(group)
          for (const entry of group.entries) entries.push(entry)
        }
      }
    } catch (error) {
      failure = error
    }
    if (clock.monotonicMs() - framedMs > FRAMELESS_MS_MAX)
      throw new LogUnavailableError(`the log sent no frame for ${FRAMELESS_MS_MAX} ms`)
    const givenMs = clock.monotonicMs()
    if (end !== null) yield { end, groups, entries }
    // Nothing is read while they are applied.
    framedMs += clock.monotonicMs() - givenMs
    if (failure !== null) throw failure
  }
  throw new LogUnavailableError('the stream of the log ended')
}

async function* pieces(log: LogSource, options: Parameters<LogSource['open']>[0]) {
  try {
    yield* await log.open(options)
  } catch (cause) {
    // Asking again brings nothing: the replica needs a snapshot.
    if (isScanError(cause, 'OFFSET_PRUNED')) throw cause
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new LogUnavailableError(`the log cannot be followed: ${reason}`, { cause })
  }
}

/** A member whose log lost its end gets it back when its engine replays the blocks: the ordering client waits for it. */
function assertReaches(frame: Frame, from: number, { ordering }: LogGenesis): void {
  if (frame.offset < from && ordering.driver === 'redis')
    throw new LogGroupError('position', `the log ends at ${frame.offset}, before ${from}`)
}

/** Whether the log still holds what was read, or what was applied before this process began. */
function assertSame(
  group: SignedGroup,
  { known, request }: { readonly known: ChainEnd | null; readonly request: FollowRequest },
): void {
  const from = known?.offset ?? request.from
  const entry = group.entries[from - group.firstOffset]
  if (entry === undefined)
    throw new LogGroupError(
      'position',
      `the log lacks ${from}, it continues at ${group.firstOffset}`,
    )
  if (known !== null) assertNoFork(known, group)
  else if (
    entry.recordTime !== request.expected?.recordTime ||
    toHex(sha256(entry.bytes)) !== request.expected.entryHash
  )
    throw new LogGroupError('chain', `the log holds another entry at ${from}`)
}

/** @throws {LogForkError} If both are signed for one offset: that is evidence, not only a broken log. */
function assertNoFork({ group }: ChainEnd, other: SignedGroup): void {
  if (group === null || group.hash === other.hash) return
  if (other.firstOffset <= group.lastOffset && other.lastOffset >= group.firstOffset)
    throw new LogForkError([group, other])
}

function regressed(cause: Error): ScanError {
  return new ScanError('LOG_REGRESSED', `the log cannot be followed: ${cause.message}`, { cause })
}
