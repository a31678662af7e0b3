/** Completions of one user and some parties, merged from the log and from what did not get there. */
import type { JsCompletion } from '@quorumscan/api'
import type { CompletionRecord, Deduplication, Offset, PartyId, UserId } from '@quorumscan/model'
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

export function toJsCompletion(
  record: CompletionRecord,
  options: {
    readonly parties: ReadonlySet<PartyId>
    readonly synchronizerId: string
    readonly participant: string
    readonly deduplicationMicrosMax: number
  },
): JsCompletion {
  const { completion, outcome, offset } = record
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
    deduplicationPeriod: toJsPeriod(record),
    traceContext: null,
    offset,
    synchronizerTime: {
      synchronizerId: options.synchronizerId,
      recordTime: formatInstant(record.recordTime),
    },
    paidTrafficCost: null,
  }
}

/** Of a duplicate: the period begins right before the acceptance that blocks (docs/upstream.md §L4.7). */
function toJsPeriod({
  outcome,
  completion,
}: CompletionRecord): JsCompletion['deduplicationPeriod'] {
  if (outcome.kind === 'rejected' && outcome.prior !== undefined)
    return { DeduplicationOffset: { value: outcome.prior.offset - 1 } }
  return toJsDeduplication(completion.deduplication)
}

// Spec silent: upstream turns a duration into an offset by what its own clock published until then. Here the
// period is one of record time, so the duration itself is what was in force.
function toJsDeduplication(period: Deduplication): JsCompletion['deduplicationPeriod'] {
  if (period.kind === 'offset') return { DeduplicationOffset: { value: period.offset } }
  const seconds = Math.floor(period.micros / 1_000_000)
  const nanos = (period.micros % 1_000_000) * 1000
  return {
    DeduplicationDuration: { value: { seconds, nanos, unknownFields: { fields: {} } } },
  }
}
