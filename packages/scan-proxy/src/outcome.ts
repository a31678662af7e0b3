/** Headers and errors of the outcome of a verified read (D-38, D-40). Pure. */

import { type ErrorCode, ScanError } from '@quorumscan/errors'
import {
  type Decided,
  type Disputed,
  type Insufficient,
  type Lagging,
  type Outcome,
  type Participation,
  ReaderError,
} from '@quorumscan/reader'
import type { OffsetPruned, Unproven } from '@quorumscan/reader/certified'
import { formatInstant, type Lookup } from '@quorumscan/verifier'

/** D-40: on every proxied answer, errors included; offset and record time where there is one. */
export function quorumHeaders(
  outcome: Participation & {
    readonly kind: string
    readonly offset?: number
    /** µs since the epoch. */
    readonly recordTime?: number
  },
): Record<string, string> {
  const headers: Record<string, string> = {
    // `expired` is the name of `pruned` in HTTP.
    'x-quorum-outcome': outcome.kind === 'pruned' ? 'expired' : outcome.kind,
    'x-quorum-threshold': String(outcome.threshold),
    'x-quorum-agreed': outcome.agreed.join(','),
    'x-quorum-dissented': outcome.dissented.join(','),
    'x-quorum-nodes': `${outcome.answered}/${outcome.nodeCount}`,
  }
  if (outcome.asked !== undefined) headers['x-quorum-asked'] = outcome.asked.join(',')
  if (outcome.trust !== null) headers['x-quorum-trust'] = outcome.trust.members.join(',')
  if (outcome.offset !== undefined) headers['x-quorum-offset'] = String(outcome.offset)
  if (outcome.recordTime !== undefined)
    headers['x-quorum-record-time'] = formatInstant(outcome.recordTime)
  return headers
}

/** D-13. */
export function entryNotFound(lookup: Lookup): ScanError {
  const text = 'name' in lookup ? `name: ${lookup.name}` : `party: ${lookup.party}`
  return new ScanError('ENTRY_NOT_FOUND', `No ans entry found for ${text}`)
}

/** D-38. The 502 sentences begin with those that existing clients match on. */
export function outcomeError(
  outcome: Exclude<Outcome, Decided> | Unproven | OffsetPruned,
): ScanError {
  switch (outcome.kind) {
    case 'disputed':
      return disputed(outcome)
    case 'insufficient':
      return insufficient(outcome)
    case 'lagging':
      return lagging(outcome)
    case 'pruned':
      return pageWalkExpired('its offset is not certified any more')
  }
}

/** A walk over pages cannot continue. */
export function pageWalkExpired(reason: string): ScanError {
  return new ScanError('OFFSET_PRUNED', `The page walk is over: ${reason}. Start it again.`)
}

function disputed(outcome: Disputed): ScanError {
  return new ScanError(
    'CONSENSUS_DISPUTED',
    `Failed to reach consensus from ${outcome.nodeCount} Scan nodes, requiring ${outcome.threshold} matching responses.` +
      (outcome.reason === 'fork' ? ' They hold different histories of the ledger.' : ''),
    {
      details: {
        reason: outcome.reason,
        groups: outcome.groups.map((group) => ({
          nodes: group.nodes,
          offset: group.offset,
          record_time: formatInstant(group.recordTime),
          history_hash: group.historyHash,
          answer_digest: group.answerDigest,
          entry: group.entry,
        })),
      },
    },
  )
}

function insufficient(outcome: Insufficient | Unproven): ScanError {
  const { reachable, needed, nodeCount, retryAfterMs } = outcome
  const unproven = 'unproven' in outcome ? outcome.unproven : null
  return new ScanError(
    'NOT_ENOUGH_NODES',
    `Only ${reachable} scan instances can be used (out of ${nodeCount} configured ones), ` +
      `which are fewer than the necessary ${needed} to achieve BFT guarantees.` +
      (unproven === null ? '' : ` The last answer proves nothing: ${unproven}.`),
    {
      details: { reachable, needed, ...(unproven !== null && { unproven }) },
      retryAfterSeconds: retryAfterMs === null ? null : Math.ceil(retryAfterMs / 1000),
    },
  )
}

const LAGGING_SENTENCES: Record<Lagging['reason'], string> = {
  'not-reached': 'The scan nodes have not reached the offset yet.',
  stale: 'The newest record time of the scan nodes is older than the read allows.',
  floor: 'The scan nodes have not reached the lowest offset that the read allows.',
}

function lagging(outcome: Lagging): ScanError {
  return new ScanError('CONSENSUS_LAGGING', LAGGING_SENTENCES[outcome.reason], {
    details: {
      reason: outcome.reason,
      wanted_offset: outcome.wantedOffset,
      head_offset: outcome.headOffset,
      age_ms: outcome.ageMs,
    },
    retryAfterSeconds: Math.max(1, Math.ceil(outcome.retryAfterMs / 1000)),
  })
}

const READER_ERRORS: Record<ReaderError['code'], ErrorCode> = {
  INVALID_THRESHOLD: 'INVALID_QUORUM',
  INVALID_ARGUMENT: 'INVALID_ARGUMENT',
  OVERLOADED: 'OVERLOADED',
  CLOSED: 'NOT_READY',
  NO_FLOOR: 'DEPENDENCY_UNAVAILABLE',
}

/** A read that was not attempted, as the error that the caller sees; anything else as it is. */
export function readerError(error: unknown): unknown {
  return error instanceof ReaderError
    ? new ScanError(READER_ERRORS[error.code], error.message, { cause: error })
    : error
}
