/** Outcomes and errors of reads as errors of the SDK, with the codes of the scan proxy (D-38). */

import { type Insufficient, type Lagging, ReaderError, type SeedAnswer } from '@quorumscan/reader'
import { formatInstant, GenesisError, memberOf, membersOf, toHex, utf8 } from '@quorumscan/verifier'
import { type CertifiedEntry, sha256 } from '@quorumscan/verifier/certified'
import { failure, isQuorumscanError, type QuorumscanError, transient } from '../errors.ts'
import { wrongGenesis } from '../genesis-pin.ts'
import { parseJson } from '../platform/parse-json.ts'
import { toEntry, type Unanswered } from './bounded.ts'
import type { Disputed, NameEntry } from './lookup-types.ts'

/** The outcome for callers, with times as texts. */
export function publicOutcome(
  outcome: Unanswered | Disputed | Insufficient,
): Disputed | Insufficient | Lagging {
  if (outcome.kind !== 'disputed') return outcome
  const groups = outcome.groups.map(({ recordTime, ...group }) => ({
    ...group,
    recordTime: typeof recordTime === 'number' ? formatInstant(recordTime) : recordTime,
  }))
  return { ...outcome, groups }
}

/** The error for an outcome without an answer. `details.outcome` has the outcome, with the answers of the nodes. */
export function outcomeError(
  what: string,
  outcome: Unanswered | Disputed | Insufficient,
): QuorumscanError {
  const facts = { details: { outcome: publicOutcome(outcome) } }
  switch (outcome.kind) {
    case 'disputed': {
      const message = `${what}: more than f members lie, or the log forked. Do not use any answer; report it to the operators.`
      return transient('CONSENSUS_DISPUTED', message, facts)
    }
    case 'insufficient': {
      const { retryAfterMs, reachable, nodeCount, needed } = outcome
      const unproven = 'unproven' in outcome ? outcome.unproven : null
      if (retryAfterMs !== null) {
        const seconds = Math.ceil(retryAfterMs / 1000)
        const message = `${what}: the scan nodes refuse more lookups. Try again in ${seconds} s.`
        return transient('RATE_LIMITED', message, { ...facts, retryAfterMs })
      }
      const code = reachable === 0 ? 'NETWORK_ERROR' : 'NOT_ENOUGH_NODES'
      const why =
        reachable === 0
          ? `none of the ${nodeCount} scan nodes can be reached`
          : `${reachable} of ${nodeCount} scan nodes replied, and too few with a valid proof: ${needed} must agree`
      const detail = unproven === null ? '' : ` The last answer proves nothing: ${unproven}.`
      return transient(code, `${what}: ${why}.${detail} Check the network, then the seeds.`, facts)
    }
    case 'lagging': {
      const { reason, retryAfterMs, clockSkewMs } = outcome
      const skew =
        clockSkewMs === null
          ? ''
          : ` The clock of this device is wrong: it is ${Math.round(clockSkewMs / 1000)} s behind.`
      const message = `${what}: ${LAGGING[reason]}${skew}`
      return transient('CONSENSUS_LAGGING', message, { ...facts, retryAfterMs })
    }
  }
}

/** The entry has expired, by the clock of this device or by proven time. */
export function nameExpired(entry: CertifiedEntry): QuorumscanError {
  const message = `${entry.name} of ${entry.user} expired at ${entry.expires_at}, by the clock of this device or by proven time. Try again.`
  return transient('NAME_EXPIRED', message, { details: { entry: toEntry(entry) } })
}

/** The name belongs to another party than the caller expects. */
export function nameMismatch(entry: NameEntry, expectedParty: string): QuorumscanError {
  const message = `${entry.name} belongs to ${entry.party}, not to ${expectedParty}.`
  return transient('NAME_MISMATCH', message, { details: { entry } })
}

const LAGGING: Record<Lagging['reason'], string> = {
  'not-reached': 'the scan nodes have not reached the offset yet. Try again.',
  stale:
    'the scan nodes have nothing newer than `maxAgeMs`. Try again, or check the clock of this device.',
  floor:
    'no scan node proves a state at the offset that is asked for: `minOffset`, or what this client wrote or its validator stated. Try again.',
}

const READER_CODES = {
  INVALID_THRESHOLD: 'INVALID_QUORUM',
  INVALID_ARGUMENT: 'INVALID_ARGUMENT',
  OVERLOADED: 'OVERLOADED',
  CLOSED: 'CLOSED',
  NO_FLOOR: 'STORE_UNAVAILABLE',
} as const satisfies Record<ReaderError['code'], QuorumscanError['code']>

/** Errors of verifier and reader as errors of the SDK; others unchanged. */
export function ownError(error: unknown): unknown {
  // The floor is in the store of the client, whose error has the reason.
  if (error instanceof ReaderError && isQuorumscanError(error.cause)) return error.cause
  if (error instanceof ReaderError)
    return failure(READER_CODES[error.code], `${error.message}.`, {
      retryable: error.code === 'OVERLOADED' || error.code === 'NO_FLOOR',
      cause: error,
    })
  return error instanceof GenesisError ? genesisError(error) : error
}

/**
 * Why no seed served the pinned genesis. A seed of another network comes first, then transient failures, then a
 * seed that is not a scan node.
 */
function genesisError(error: GenesisError): QuorumscanError {
  const { errors } = membersOf(error.cause) as { readonly errors?: readonly Error[] }
  const proxyError = errors?.find(isQuorumscanError)
  if (proxyError !== undefined) return proxyError
  const answers = (errors ?? []).flatMap(({ cause }) => (isAnswer(cause) ? [cause] : []))
  const other = answers.find((answer) => answer.status === 200 && isGenesis(answer.text))
  if (other !== undefined) {
    const message = `${other.seed} serves the genesis document ${toHex(sha256(utf8(other.text)))}, not the pinned one. Never take the hash from a seed: compare it with what the members of the network publish.`
    return wrongGenesis(message, error)
  }
  const isUnreachable = answers.length === 0 || errors?.length !== answers.length
  const notAScanNode = answers.find(({ status }) => status < 500 && status !== 429)
  if (isUnreachable || notAScanNode === undefined) {
    const message = `No scan node can be reached: ${(errors ?? [error]).map(reasonOf).join('; ')}. Check the network, then the seeds.`
    return transient('NETWORK_ERROR', message, { cause: error })
  }
  const { seed, status } = notAScanNode
  const message = `${seed} is not a scan node: it answers GET /v0/genesis with status ${status}${status === 200 ? ' and another document' : ''}. Check the seeds.`
  return failure('INVALID_RESPONSE', message, { status, cause: error })
}

function reasonOf({ message, cause }: Error): string {
  const { message: why } = membersOf(cause) as { readonly message?: unknown }
  return typeof why === 'string' ? `${message} (${why})` : message
}

function isAnswer(cause: unknown): cause is SeedAnswer {
  return typeof memberOf(cause, 'seed') === 'string'
}

/** Whether the text looks like a genesis document, valid or not. */
function isGenesis(text: string): boolean {
  return Array.isArray(memberOf(parseJson(text), 'nodes'))
}
