/**
 * Streams of completions (docs/upstream.md §L5.1): open-ended, with checkpoints that show how far they are. What an
 * offset holds is delivered as a whole, so that a reader may resume after any element.
 */
import type { CompletionsRequest } from '@quorumscan/api'
import { canReadAs } from '@quorumscan/auth'
import { within } from '@quorumscan/base'
import { LedgerError } from '@quorumscan/errors'
import type { Micros, Offset } from '@quorumscan/model'
import type { Caller } from '../callers.ts'
import type { LedgerApiDeps } from '../dependencies.ts'
import { formatInstant } from '../instants.ts'
import { afterLedgerEnd, negativeOffset } from '../update-request.ts'
import { type Elements, prunedError } from '../update-stream.ts'
import { type CompletionFilter, nextCompletions, toJsCompletion } from './completions.ts'
import { missingField, shown } from './grammar.ts'

/** As of updates (docs/upstream.md §L3.3). */
const FIRST_CHECKPOINT_MS = 500
const CHECKPOINT_INTERVAL_MS = 15_000
/** Until what has expired is on disk: a write of Redis. */
const SETTLE_MS = 50

type StreamContext = Pick<
  LedgerApiDeps,
  'ledger' | 'dispatcher' | 'reads' | 'genesis' | 'participantId'
>

export type CompletionsQuery = { readonly after: Offset; readonly filter: CompletionFilter }

/** @throws {LedgerError} The first of: rights, no parties, offsets. */
export async function checkCompletionsRequest(
  { reads }: Pick<StreamContext, 'reads'>,
  request: CompletionsRequest,
  caller: Caller,
): Promise<CompletionsQuery> {
  const { parties, beginExclusive } = request
  const userId = request.userId || caller.userId
  if (userId !== caller.userId)
    throw new LedgerError('PERMISSION_DENIED', `${caller.userId} asks for ${shown(userId)}`)
  for (const party of parties)
    if (!canReadAs(caller.rights, party))
      throw new LedgerError('PERMISSION_DENIED', `${userId} may not read as ${shown(party)}`)
  if (parties.length === 0) throw missingField('parties')
  if (beginExclusive < 0) throw negativeOffset('begin_exclusive', beginExclusive)
  const { feed, prunedOffset } = reads.updates
  const end = feed.end().offset
  if (beginExclusive > end) throw afterLedgerEnd('Begin', beginExclusive, end)
  const after = Number(beginExclusive)
  const pruned = await prunedOffset()
  if (after < pruned) throw prunedError({ after, upTo: null, pruned })
  return { after, filter: { userId, parties: new Set(parties) } }
}

/** Fails with the signal's reason. */
export async function* completionsOf(
  context: StreamContext,
  query: CompletionsQuery,
  signal: AbortSignal,
): Elements {
  const { genesis, participantId, reads } = context
  const { clock, feed } = reads.updates
  const { synchronizerId, deduplicationMicrosMax } = genesis
  const { parties } = query.filter
  const { ledger } = context
  const wire = {
    ledger,
    parties,
    synchronizerId,
    deduplicationMicrosMax,
    participant: participantId,
  }
  let position = query.after
  let told: Offset | null = null
  let checkpointMs = clock.monotonicMs() + FIRST_CHECKPOINT_MS
  for (;;) {
    signal.throwIfAborted()
    const page = await nextCompletions(context, position, query.filter)
    if (page !== null) {
      signal.throwIfAborted()
      position = page.upTo
      if (page.records.length > 0)
        yield await Promise.all(
          page.records.map(async (record) =>
            JSON.stringify({
              completionResponse: { Completion: { value: await toJsCompletion(record, wire) } },
            }),
          ),
        )
      continue
    }
    const end = feed.end()
    const nowMs = clock.monotonicMs()
    if (nowMs >= checkpointMs && end.offset === position && told !== position) {
      checkpointMs = nowMs + CHECKPOINT_INTERVAL_MS
      told = position
      yield [checkpointElement(position, end.recordTime, synchronizerId)]
      continue
    }
    if (end.offset > position) {
      await clock.delay(SETTLE_MS, signal)
      continue
    }
    const timeoutMs = nowMs < checkpointMs ? checkpointMs - nowMs : CHECKPOINT_INTERVAL_MS
    const news = (ending: AbortSignal) => feed.waitBehind(position, ending)
    await within({ clock, timeoutMs, signal }, news, () => {})
  }
}

function checkpointElement(offset: Offset, recordTime: Micros, synchronizerId: string): string {
  const value = {
    offset,
    synchronizerTimes: [{ synchronizerId, recordTime: formatInstant(recordTime) }],
  }
  return JSON.stringify({ completionResponse: { OffsetCheckpoint: { value } } })
}
