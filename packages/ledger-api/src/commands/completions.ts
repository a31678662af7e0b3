/** Completions of one user and some parties, merged from the log and from what did not get there. */
import type { JsCompletion } from '@quorumscan/api'
import type { CompletionRecord, Offset, PartyId, UserId } from '@quorumscan/model'
import type { Replica } from '@quorumscan/replica'
import { formatInstant } from '../instants.ts'
import type { Dispatcher } from './dispatcher.ts'
import { completionError } from './refusals.ts'
import { okStatus, statusOf } from './rpc-status.ts'

/** Completions read at once: some 300 KiB. */
const PORTION = 500

export type CompletionFilter = { readonly userId: UserId; readonly parties: ReadonlySet<PartyId> }

type Sources = {
  readonly ledger: Pick<Replica, 'completions'>
  readonly dispatcher: Pick<Dispatcher, 'expired' | 'settledOffset'>
}

/** A stretch of the log that was looked through, with what it held of the filter. */
export type CompletionPage = {
  readonly upTo: Offset
  readonly records: readonly CompletionRecord[]
}

/** The next stretch after an offset; null where nothing more is settled yet. Ascending by offset. */
export async function nextCompletions(
  { ledger, dispatcher }: Sources,
  after: Offset,
  filter: CompletionFilter,
): Promise<CompletionPage | null> {
  const settled = dispatcher.settledOffset()
  if (after >= settled) return null
  const ofLog = await ledger.completions({ after, upTo: settled, limit: PORTION })
  const last = ofLog.length < PORTION ? settled : (ofLog.at(-1)?.offset ?? settled)
  const ofOutbox = await dispatcher.expired({ after, upTo: last, limit: Number.MAX_SAFE_INTEGER })
  const records = [...ofLog, ...ofOutbox]
    .filter(({ completion }) => completion.userId === filter.userId)
    .filter(({ completion }) => completion.actAs.some((party) => filter.parties.has(party)))
    .sort((a, b) => a.offset - b.offset)
  return { upTo: last, records }
}

/** As it is shown to who reads for the parties. */
export async function toJsCompletion(
  record: CompletionRecord,
  options: {
    readonly ledger: Sources['ledger']
    readonly parties: ReadonlySet<PartyId>
    readonly synchronizerId: string
    readonly participant: string
    readonly deduplicationMicrosMax: number
  },
): Promise<JsCompletion> {
  const { completion, outcome, offset } = record
  const { traceparent } = completion
  return {
    commandId: completion.commandId,
    status:
      outcome.kind === 'accepted'
        ? okStatus()
        : statusOf(completionError(record, outcome, options), options),
    updateId: outcome.kind === 'accepted' ? outcome.updateId : '',
    userId: completion.userId,
    actAs: completion.actAs.filter((party) => options.parties.has(party)),
    submissionId: completion.submissionId,
    deduplicationPeriod: {
      DeduplicationOffset: { value: await periodStart(options.ledger, record) },
    },
    traceContext: traceparent === undefined ? null : { traceparent, tracestate: null },
    offset,
    synchronizerTime: {
      synchronizerId: options.synchronizerId,
      recordTime: formatInstant(record.recordTime),
    },
    paidTrafficCost: null,
  }
}

/**
 * The period that was in force, as the offset after which it began (docs/upstream.md §L4.7): of a duplicate right
 * before the acceptance that blocks; of a duration where the first completion within it stands.
 */
async function periodStart(ledger: Sources['ledger'], record: CompletionRecord): Promise<Offset> {
  const { outcome, completion, offset, recordTime } = record
  if (outcome.kind === 'rejected' && outcome.prior !== undefined) return outcome.prior.offset - 1
  const { deduplication } = completion
  if (deduplication.kind === 'offset') return deduplication.offset
  const start = recordTime - deduplication.micros
  // Record time grows with the offset: the first completion at or after the start, by halving.
  let before = 0
  let within = offset
  while (before < within) {
    const after = Math.floor((before + within) / 2)
    const [next] = await ledger.completions({ after, upTo: offset, limit: 1 })
    if (next === undefined || next.recordTime >= start) within = after
    else before = next.offset
  }
  return before
}
