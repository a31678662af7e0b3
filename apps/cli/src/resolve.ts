/**
 * `resolve`: a lookup at the nodes themselves, by a proof that keys of the genesis signed. It uses no proxy, and trusts no
 * node.
 */

import type { Clock } from '@quorumscan/base'
import { printable } from '@quorumscan/base'
import { isAnswer } from '@quorumscan/errors/node-words'
import { createFetchTransport, type Lagging, ReaderError } from '@quorumscan/reader'
import type {
  CertifiedAnswer,
  CertifiedOutcome,
  CertifiedReader,
} from '@quorumscan/reader/certified'
import { describeClockSkew, UsageError } from '@quorumscan/runtime'
import { formatInstant, requestOfLookup } from '@quorumscan/verifier'
import type { CertifiedEntry } from '@quorumscan/verifier/certified'
import { type Attempt, recordAttempts } from './attempts.ts'
import { EXIT } from './exit-codes.ts'
import { type Network, openReader } from './network.ts'
import { wrap } from './options.ts'
import { entryLines, field, lookupOf } from './text.ts'
import { parseVotes } from './verify.ts'

const MS_PER_SECOND = 1000
/** The limit for the reader, which is also its default (D-39). */
const MAX_AGE_MS = 60_000

export type ResolveOptions = Network & {
  /** A name or a party. */
  readonly subject: string
  /** Signers needed: weak, strong, all or a number. */
  readonly quorum: string
  readonly clock: Clock
}

type Answer = CertifiedAnswer<CertifiedEntry | null>
type Outcome = CertifiedOutcome<CertifiedEntry | null>

export type Resolved = {
  readonly outcome: Outcome
  /** Whether the name of a party resolves to the party. Only such a name may be shown. Null for a lookup of a name. */
  readonly match: boolean | null
  /** The requests to nodes, in the order in which they were sent. */
  readonly asked: readonly Attempt[]
}

/** @throws {UsageError} If the options are invalid. */
export async function resolve(options: ResolveOptions): Promise<Resolved> {
  const { clock, genesis, nodes, subject } = options
  const threshold = parseVotes(options.quorum, genesis)
  const { transport, attempts } = recordAttempts(createFetchTransport(), clock)
  await using reader = await openReader(options, clock, transport)
  try {
    const lookup = lookupOf(subject)
    const [found] = await reader.lookup([lookup], { threshold, maxAgeMs: MAX_AGE_MS })
    const outcome = found as Outcome // One asked, one answered.
    const match = 'party' in lookup ? await isForwardConfirmed(reader, outcome, threshold) : null
    const asked = attempts(nodes, reader.status().nodes, minAcceptedOffset(outcome))
    if (!isAnswered(outcome)) return { outcome, match, asked }
    // The document also proves this lookup if it was part of a batch.
    const receipt = { ...outcome.receipt, request: requestOfLookup(lookup) }
    return { outcome: { ...outcome, receipt }, match, asked }
  } catch (error) {
    if (error instanceof ReaderError) throw new UsageError(error.message, { cause: error })
    throw error
  }
}

export function isAnswered(outcome: Outcome): outcome is Answer {
  return 'answer' in outcome
}

/** The least offset at which a node's reply is shown as accepted; Infinity if all replies were too old. */
function minAcceptedOffset(outcome: Outcome): number {
  if (isAnswered(outcome)) return outcome.offset
  return outcome.kind === 'lagging' ? Number.POSITIVE_INFINITY : 0
}

/** Whether the name that was found for a party resolves to this party. */
async function isForwardConfirmed(reader: CertifiedReader, outcome: Outcome, threshold: number) {
  if (!isAnswered(outcome) || outcome.answer === null) return false
  const { name, user } = outcome.answer
  const [forward] = await reader.lookup([{ name }], { threshold, minOffset: outcome.offset })
  return forward !== undefined && isAnswered(forward) && forward.answer?.user === user
}

/** The result as text. */
export function formatResolved(subject: string, { outcome, match, asked }: Resolved): string {
  return [
    `${printable(subject)}: ${outcome.kind}`,
    ...(isAnswered(outcome) ? answerLines(outcome) : undecidedLines(outcome)),
    ...(outcome.clockSkewMs === null ? [] : [field('clock', describeSkew(outcome.clockSkewMs))]),
    ...(match === null ? [] : [field('name match', match ? 'yes' : 'no: do not show a name')]),
    ...asked.map(({ node, reason }, index) =>
      field(index === 0 ? 'asked' : '', `${node}: ${reason}`),
    ),
  ].join('\n')
}

/** What is wrong with the clock of this machine. */
function describeSkew(skewMs: number): string {
  const skew = describeClockSkew(-skewMs * 1000, 'the time that members have signed')
  return `the clock of this machine is wrong: ${skew}. Set it`
}

/** The result as JSON. `verify` accepts it unchanged. */
export function resolvedJson({ outcome, ...more }: Resolved) {
  return { ...outcome, ...more }
}

/** The exit status of a lookup. @param answeredCount - The number of nodes that answered. */
export function exitOfLookup(kind: string, answeredCount: number): number {
  if (isAnswer(kind)) return EXIT.done
  if (kind === 'disputed') return EXIT.failed
  return answeredCount === 0 ? EXIT.silent : EXIT.inconclusive
}

function answerLines(outcome: Answer): string[] {
  const { answer, offset, recordTime, agreed, threshold, receipt } = outcome
  return [
    ...entryLines(answer),
    field('offset', `${offset}, of ${formatInstant(recordTime)}`),
    field('signed by', `${agreed.join(', ')} (${threshold} needed)`),
    field('proof', `${Buffer.byteLength(receipt.document)} bytes`),
  ]
}

/** Why no answer is new enough, and what to do. */
export function describeLag(
  lag: Pick<Lagging, 'reason' | 'ageMs' | 'wantedOffset' | 'headOffset'>,
): string {
  const { reason, ageMs, wantedOffset, headOffset } = lag
  if (reason === 'stale') {
    const seconds = Math.ceil((ageMs ?? 0) / MS_PER_SECOND)
    return `the newest answer is ${seconds} s old; ${MAX_AGE_MS / MS_PER_SECOND} s are allowed. Check that entries are ordered: \`quorumscan check\` names nodes that lag`
  }
  const where =
    headOffset === null ? 'no node reports its offset' : `the nodes are at ${headOffset}`
  return `offset ${wantedOffset} is wanted, and ${where}: ask again when they have caught up`
}

function undecidedLines(outcome: Exclude<Outcome, Answer>): string[] {
  switch (outcome.kind) {
    case 'disputed':
      return outcome.groups.map(
        ({ nodes, answerDigest, offset }) =>
          `  ${nodes.join(', ')} signed ${answerDigest} at offset ${offset}`,
      )
    case 'insufficient':
      return wrap(
        `  no node has an answer that ${outcome.needed} members signed: \`quorumscan check\` shows which nodes answer`,
      )
    case 'lagging':
      return wrap(`  ${describeLag(outcome)}`)
    case 'pruned':
      return []
  }
}
