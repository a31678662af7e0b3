/**
 * Completions of one user and some parties (docs/upstream.md §L5.1), merged from the log and from what did not get there:
 * an open-ended stream. What an offset holds is delivered as a whole, so that a client may resume after any element.
 */
import type { CommandCompletionsRequest, CompletionsRequest, JsCompletion } from '@quorumscan/api'
import type { CompletionRecord, Offset, PartyId, UserId } from '@quorumscan/model'
import type { Replica } from '@quorumscan/replica'
import type { Outbox } from '@quorumscan/users'
import type { CallerRights } from '../callers.ts'
import type { LedgerApiDeps } from '../dependencies.ts'
import { assertMayReadAs } from '../formats.ts'
import { formatLedgerInstant } from '../instants.ts'
import { afterLedgerEnd, assertNotPruned, negativeOffset } from '../offsets.ts'
import { endless, type OpenStream, type StreamReader } from '../update-stream.ts'
import type { UpdatesDeps } from '../updates.ts'
import { completionError, OK, statusOf } from './completion-status.ts'
import type { Dispatcher } from './dispatcher.ts'
import { denied, missingField, quoted } from './grammar.ts'

/** Completions read at once: some 300 KiB. */
const PORTION_MAX = 500
/** Completions whose periods are looked up at once, before the first of them is delivered. */
const BATCH = 50
/** The time after which the completion of an expired submission is stored in Redis. */
const SETTLE_MS = 50

type CompletionFilter = {
  /** Null: of any user. */
  readonly userId: UserId | null
  /** Null: of any party. */
  readonly parties: ReadonlySet<PartyId> | null
}

export type CompletionsDeps = Pick<LedgerApiDeps, 'genesis' | 'participantId'> & {
  readonly reads: UpdatesDeps
  readonly ledger: Pick<Replica, 'completions'>
  readonly dispatcher: Pick<Dispatcher, 'settledOffset'>
  readonly store: { readonly outbox: Pick<Outbox, 'expired'> }
}

/** @throws {LedgerError} The first of: rights, no parties, offsets. */
export const openCompletions =
  (context: CompletionsDeps) =>
  async (request: CompletionsRequest, caller: CallerRights): Promise<OpenStream> => {
    const { parties, beginExclusive } = request
    const userId = request.userId || caller.userId
    if (userId !== caller.userId) throw denied(`${caller.userId} asks for ${quoted(userId)}`)
    assertMayReadAs(caller, parties)
    if (parties.length === 0) throw missingField('parties')
    return await open(context, beginExclusive, { userId, parties: new Set(parties) })
  }

/** Completions of any user. @throws {LedgerError} The first of: rights, offsets. */
export const openCommandCompletions =
  (context: CompletionsDeps) =>
  async (request: CommandCompletionsRequest, caller: CallerRights): Promise<OpenStream> => {
    const { parties, beginExclusive } = request
    const isAny = parties.length === 0
    assertMayReadAs(caller, isAny ? 'all' : parties)
    const wanted = isAny ? null : new Set(parties)
    return await open(context, beginExclusive, { userId: null, parties: wanted })
  }

/** @throws {LedgerError} For the offset. */
async function open(
  context: CompletionsDeps,
  beginExclusive: number | bigint,
  filter: CompletionFilter,
): Promise<OpenStream> {
  const { reads } = context
  if (beginExclusive < 0) throw negativeOffset('begin_exclusive', beginExclusive)
  const end = reads.feed.end().offset
  if (beginExclusive > end) throw afterLedgerEnd('Begin', beginExclusive, end)
  const after = Number(beginExclusive)
  await assertNotPruned(reads, { after, upTo: null })
  return (signal, { elementsMax = PORTION_MAX, onCaughtUp, onRows } = {}) =>
    endless(reads, after, {
      member: 'completionResponse',
      signal,
      onCaughtUp,
      settleMs: SETTLE_MS,
      read: ({ offset }) =>
        readCompletions(context, offset, {
          filter,
          signal,
          wanted: Math.max(elementsMax, 1),
          onRows,
        }),
    })
}

/** Yields what comes after an offset, and returns how far that is. */
async function* readCompletions(
  context: CompletionsDeps,
  after: Offset,
  options: {
    readonly filter: CompletionFilter
    readonly signal: AbortSignal
    /** About as many completions are read first. Portions double, as few may match the filter. */
    readonly wanted: number
    readonly onRows: StreamReader['onRows']
  },
) {
  const { filter, signal, wanted, onRows } = options
  let offset = after
  for (let limit = Math.min(wanted, PORTION_MAX); ; limit = Math.min(2 * limit, PORTION_MAX)) {
    const page = await nextCompletions(context, offset, { filter, limit })
    const end = context.reads.feed.end()
    // The record time of an offset that is not settled yet is not known.
    if (page === null) return end.offset === offset ? end : { offset, recordTime: null }
    signal.throwIfAborted()
    offset = page.upTo
    onRows?.(page.rows)
    const batch = Math.min(wanted, BATCH)
    for (let start = 0; start < page.records.length; start += batch) {
      const records = page.records.slice(start, start + batch)
      const values = records.map((record) => toJsCompletion(context, record, filter))
      yield (await Promise.all(values)).map((value) =>
        JSON.stringify({ completionResponse: { Completion: { value } } }),
      )
      signal.throwIfAborted()
    }
  }
}

/**
 * The next stretch of the log after an offset, with what it held of the filter, ascending by offset; null if nothing
 * more is settled yet.
 */
async function nextCompletions(
  { ledger, dispatcher, store }: CompletionsDeps,
  after: Offset,
  { filter, limit }: { readonly filter: CompletionFilter; readonly limit: number },
): Promise<{
  readonly upTo: Offset
  readonly records: readonly CompletionRecord[]
  /** Those that were read, also of others. */
  readonly rows: number
} | null> {
  const { userId } = filter
  const settled = dispatcher.settledOffset()
  if (after >= settled) return null
  const ofLog = await ledger.completions({ after, upTo: settled, limit })
  const last = ofLog.length < limit ? settled : (ofLog.at(-1)?.offset ?? settled)
  const all = Number.MAX_SAFE_INTEGER
  const ofOutbox = await store.outbox.expired({ after, upTo: last, limit: all })
  const records = [...ofLog, ...ofOutbox]
    .filter(({ completion }) => userId === null || completion.userId === userId)
    .filter(({ completion }) => shownParties(completion.actAs, filter).length > 0)
    .sort((a, b) => a.offset - b.offset)
  return { upTo: last, records, rows: ofLog.length + ofOutbox.length }
}

function shownParties(actAs: readonly PartyId[], { parties }: CompletionFilter): PartyId[] {
  return actAs.filter((party) => parties === null || parties.has(party))
}

/** The completion as a client sees it that reads for these parties. */
async function toJsCompletion(
  { ledger, genesis, participantId: participant }: CompletionsDeps,
  record: CompletionRecord,
  filter: CompletionFilter,
): Promise<JsCompletion> {
  const { completion, outcome, offset } = record
  const { traceparent } = completion
  const isAccepted = outcome.kind === 'accepted'
  const recordTime = formatLedgerInstant(record.recordTime)
  return {
    commandId: completion.commandId,
    status: isAccepted ? OK : statusOf(completionError(record, outcome, genesis), participant),
    updateId: isAccepted ? outcome.updateId : '',
    userId: completion.userId,
    actAs: shownParties(completion.actAs, filter),
    submissionId: completion.submissionId,
    deduplicationPeriod: { DeduplicationOffset: { value: await periodStart(ledger, record) } },
    traceContext: traceparent === undefined ? null : { traceparent, tracestate: null },
    offset,
    synchronizerTime: { synchronizerId: genesis.synchronizerId, recordTime },
    paidTrafficCost: null,
  }
}

/**
 * The period that was in force, as the offset after which it began (docs/upstream.md §L4.7): of a duplicate right
 * before the acceptance that blocks; of a duration the offset before the first completion within it.
 */
async function periodStart(ledger: Pick<Replica, 'completions'>, record: CompletionRecord) {
  const { outcome, completion, offset, recordTime } = record
  if (outcome.kind === 'rejected' && outcome.prior !== undefined) return outcome.prior.offset - 1
  const { deduplication } = completion
  if (deduplication.kind === 'offset') return deduplication.offset
  const start = recordTime - deduplication.micros
  // Record time grows with the offset: the first completion at or after the start, by halving.
  let before = 0
  let within = offset
  // Most ledgers are younger than the longest period.
  const [oldest] = await ledger.completions({ after: 0, upTo: offset, limit: 1 })
  if (oldest === undefined || oldest.recordTime >= start) return 0
  while (before < within) {
    const after = Math.floor((before + within) / 2)
    const [next] = await ledger.completions({ after, upTo: offset, limit: 1 })
    if (next === undefined || next.recordTime >= start) within = after
    else before = next.offset
  }
  return before
}
