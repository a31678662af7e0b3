/** What goes wrong with reads, as errors of the SDK, with the codes of the scan proxy (D-38). */

import { type Insufficient, type Lagging, ReaderError } from '@quorumscan/reader'
import { formatInstant, GenesisError } from '@quorumscan/verifier'
import type { CertifiedEntry } from '@quorumscan/verifier/certified'
import { type ErrorCode, failure, passing, QuorumscanError } from '../errors.ts'
import { toEntry } from './entries.ts'
import { genesisError } from './genesis-error.ts'
import type { Disputed, Unanswered } from './lookups.ts'

/** As callers get it: times are texts. */
export function toldOutcome(outcome: Unanswered | Disputed): Disputed | Insufficient | Lagging {
  if (outcome.kind !== 'disputed') return outcome
  const groups = outcome.groups.map(({ recordTime, ...group }) => ({
    ...group,
    recordTime: typeof recordTime === 'number' ? formatInstant(recordTime) : recordTime,
  }))
  return { ...outcome, groups }
}

/** The details hold the outcome, so that a caller of `resolve` can see who said what. */
export function outcomeError(what: string, outcome: Unanswered | Disputed): QuorumscanError {
  const facts = { definite: true, details: { outcome: toldOutcome(outcome) } }
  switch (outcome.kind) {
    case 'disputed':
      return new QuorumscanError(
        `${what}: the scan nodes contradict each other beyond what lying ones can do. Do not use any of their answers.`,
        { code: 'CONSENSUS_DISPUTED', retryable: true, ...facts },
      )
    case 'insufficient':
      if (outcome.retryAfterMs !== null)
        return new QuorumscanError(
          `${what}: the scan nodes take no more lookups from this address for now. Try again in ${Math.ceil(outcome.retryAfterMs / 1000)} s, or ask for fewer at a time.`,
          {
            code: 'RATE_LIMITED',
            retryable: true,
            retryAfterMs: outcome.retryAfterMs,
            ...facts,
          },
        )
      if (outcome.reachable === 0)
        return new QuorumscanError(
          `${what}: none of the ${outcome.nodeCount} scan nodes can be reached. Check the network, then the seeds.`,
          { code: 'NETWORK_ERROR', retryable: true, ...facts },
        )
      return new QuorumscanError(
        `${what}: ${outcome.reachable} of ${outcome.nodeCount} scan nodes can be used, ${outcome.needed} must agree. Check the network and the seeds.`,
        { code: 'NOT_ENOUGH_NODES', retryable: true, ...facts },
      )
    case 'lagging':
      return new QuorumscanError(`${what}: ${LAGGING[outcome.reason]}`, {
        code: 'CONSENSUS_LAGGING',
        retryable: true,
        retryAfterMs: outcome.retryAfterMs,
        ...facts,
      })
  }
}

/** The entry has ended by the clock of this device. */
export function nameExpired(entry: CertifiedEntry): QuorumscanError {
  return passing(
    'NAME_EXPIRED',
    `${entry.name} was that of ${entry.user} until ${entry.expires_at}: by the clock of this device that has passed. Try again.`,
    { details: { entry: toEntry(entry) } },
  )
}

const LAGGING: Record<Lagging['reason'], string> = {
  'not-reached': 'the scan nodes have not reached the offset yet. Try again.',
  stale:
    'the newest that the scan nodes have is older than `maxAgeMs`. Try again, or check the clock of this device.',
  floor: 'the scan nodes have not reached `minOffset` yet. Try again.',
}

const READER_CODES: Record<ReaderError['code'], ErrorCode> = {
  INVALID_THRESHOLD: 'INVALID_QUORUM',
  INVALID_ARGUMENT: 'INVALID_ARGUMENT',
  OVERLOADED: 'OVERLOADED',
  CLOSED: 'CLOSED',
  NO_FLOOR: 'STORE_UNAVAILABLE',
}

/** Errors of verifier and reader as errors of the SDK; others unchanged. */
export function ownError(error: unknown): unknown {
  if (error instanceof ReaderError)
    return failure(READER_CODES[error.code], `${error.message}.`, {
      retryable: error.code === 'OVERLOADED' || error.code === 'NO_FLOOR',
      cause: error,
    })
  return error instanceof GenesisError ? genesisError(error) : error
}
