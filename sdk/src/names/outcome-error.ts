/** What goes wrong with reads, as errors of the SDK, with the codes of the scan proxy (D-38). */

import { type Insufficient, type Lagging, ReaderError, type SeedAnswer } from '@quorumscan/reader'
import { formatInstant, GenesisError, toHex, utf8 } from '@quorumscan/verifier'
import { type CertifiedEntry, sha256 } from '@quorumscan/verifier/certified'
import {
  type ErrorCode,
  failure,
  isQuorumscanError,
  passing,
  type QuorumscanError,
} from '../errors.ts'
import { wrongGenesis } from '../genesis-pin.ts'
import { parseJson } from '../http/http-failures.ts'
import { type Disputed, toEntry, type Unanswered } from './lookups.ts'

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
  const facts = { details: { outcome: toldOutcome(outcome) } }
  switch (outcome.kind) {
    case 'disputed':
      return passing(
        'CONSENSUS_DISPUTED',
        `${what}: the scan nodes contradict each other beyond what lying ones can do. Do not use any of their answers.`,
        facts,
      )
    case 'insufficient': {
      const { retryAfterMs, reachable, nodeCount, needed } = outcome
      if (retryAfterMs !== null)
        return passing(
          'RATE_LIMITED',
          `${what}: the scan nodes refuse more lookups. Try again in ${Math.ceil(retryAfterMs / 1000)} s.`,
          { ...facts, retryAfterMs },
        )
      if (reachable === 0)
        return passing(
          'NETWORK_ERROR',
          `${what}: none of the ${nodeCount} scan nodes can be reached. Check the network, then the seeds.`,
          facts,
        )
      return passing(
        'NOT_ENOUGH_NODES',
        `${what}: ${reachable} of ${nodeCount} scan nodes can be used, ${needed} must agree. Check the network, then the seeds.`,
        facts,
      )
    }
    case 'lagging': {
      const { reason, retryAfterMs } = outcome
      return passing('CONSENSUS_LAGGING', `${what}: ${LAGGING[reason]}`, { ...facts, retryAfterMs })
    }
  }
}

/** The entry has ended by the clock of this device. */
export function nameExpired(entry: CertifiedEntry): QuorumscanError {
  return passing(
    'NAME_EXPIRED',
    `${entry.name} of ${entry.user} expired at ${entry.expires_at}, by the clock of this device. Try again.`,
    { details: { entry: toEntry(entry) } },
  )
}

const LAGGING: Record<Lagging['reason'], string> = {
  'not-reached': 'the scan nodes have not reached the offset yet. Try again.',
  stale:
    'the scan nodes have nothing newer than `maxAgeMs`. Try again, or check the clock of this device.',
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

/**
 * Why no seed gave the genesis that is pinned: out of reach, of another network, or no scan node at all. That one seed
 * lies, or is misconfigured, comes first; then what may pass.
 */
function genesisError(error: GenesisError): QuorumscanError {
  const { errors } = Object(error.cause) as { readonly errors?: readonly Error[] }
  const own = errors?.find(isQuorumscanError) // A scan proxy was asked.
  if (own !== undefined) return own
  const answers = (errors ?? []).flatMap(({ cause }) => (isAnswer(cause) ? [cause] : []))
  const other = answers.find((answer) => answer.status === 200 && isGenesis(answer.text))
  if (other !== undefined)
    return wrongGenesis(
      `${other.seed} serves the genesis document ${toHex(sha256(utf8(other.text)))}, not the one that is pinned. Never take the hash from a seed: compare it with what the members of the network publish.`,
      error,
    )
  const isAway = answers.length === 0 || errors?.length !== answers.length
  const noNode = answers.find(({ status }) => status < 500 && status !== 429)
  if (isAway || noNode === undefined)
    return passing(
      'NETWORK_ERROR',
      `No scan node can be reached: ${(errors ?? [error]).map(reasonOf).join('; ')}. Check the network, then the seeds.`,
      { cause: error },
    )
  const { seed, status } = noNode
  return failure(
    'INVALID_RESPONSE',
    `${seed} is no scan node: it answers GET /v0/genesis with status ${status}${status === 200 ? ' and something else' : ''}. Check the seeds.`,
    { status, cause: error },
  )
}

function reasonOf({ message, cause }: Error): string {
  const { message: why } = Object(cause) as { readonly message?: unknown }
  return typeof why === 'string' ? `${message} (${why})` : message
}

function isAnswer(cause: unknown): cause is SeedAnswer {
  return typeof Object(cause).seed === 'string'
}

/** Valid or not: it means to be one. */
function isGenesis(text: string): boolean {
  return Array.isArray(Object(parseJson(text)).nodes)
}
