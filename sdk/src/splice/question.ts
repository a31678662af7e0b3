/** A question to all scans, the parser of their replies, and the driver of a read. */
import type { Transport, TransportReply } from '@quorumscan/reader'
import { onAbort, type TrustRule } from '@quorumscan/verifier'
import { retryAfter } from '../http/stated-errors.ts'
import type { Clock } from '../platform/clock.ts'
import { withDeadline } from '../platform/deadline.ts'
import {
  canonicalText,
  isObject,
  type JsonObject,
  type JsonValue,
  parseExactJson,
} from './exact-json.ts'
import type { SpliceAnswers, SpliceParticipation } from './splice-answers.ts'
import {
  createVoteState,
  type MemberScans,
  type ParsedReply,
  type SpliceThreshold,
  step,
  type VoteEvent,
  type Voter,
  type VoteState,
  type VoteVerdict,
  votesNeeded,
} from './splice-decider.ts'
import { type SpliceOutcome, spliceFailure } from './splice-outcome.ts'

/** A read of the Scan API. */
export type Question<T extends JsonValue> = {
  /** For messages. */
  readonly what: string
  /** Below `/api/scan`, with its query. */
  readonly path: string
  /** The body of a POST; null: a GET. */
  readonly body: JsonValue | null
  /** A larger answer is a failure. */
  readonly bytesMax: number
  /** The error text of the 404 that means absence; null: no 404 is an answer. */
  readonly absence: string | null
  /**
   * The value of the body, without members that differ between nodes; null: absence.
   *
   * @returns undefined if the body is not an answer to this question.
   */
  read(body: JsonValue, nowMicros: number): T | null | undefined
}

/** Creates a question whose answers are objects. */
export function question<T extends JsonValue>(
  asked: Pick<Question<T>, 'what' | 'path' | 'bytesMax'> &
    Partial<Pick<Question<T>, 'body' | 'absence'>>,
  read: (body: JsonObject, nowMicros: number) => T | null | undefined,
): Question<T> {
  return {
    body: null,
    absence: null,
    ...asked,
    read: (body, nowMicros) => (isObject(body) ? read(body, nowMicros) : undefined),
  }
}

/** The list of super-validators that vote. */
export type MemberList = {
  /** n, including super-validators without an address. */
  readonly nodeCount: number
  /** f of them. */
  readonly faultyMax: number
  readonly trust: TrustRule | null
  /** `trusted`: one scan alone names those that vote, or is the only one. */
  readonly basis: SpliceParticipation['basis']
  /** Super-validators with an address. */
  readonly voters: readonly MemberScans[]
}

export type ReadContext = {
  readonly transport: Transport
  readonly clock: Clock
  readonly threshold: SpliceThreshold
  /** When the read must end, by the monotonic clock. */
  readonly endsAtMs: number
  /** Aborts the read, which rejects with the signal's reason. */
  readonly signal: AbortSignal
}

/** A slower scan has failed. It is asked again if its vote is needed. */
const SCAN_TIMEOUT_MS = 5000
const SILENCE = { reason: 'no answer in time', isReachable: false }
const READ_ENDED = new Error('the read has ended')

/**
 * Asks all super-validators.
 *
 * @throws {QuorumscanError} INVALID_QUORUM. What scans answer, or fail to answer, is an outcome.
 */
export async function readByVotes<T extends JsonValue>(
  question: Question<T>,
  list: MemberList,
  context: ReadContext,
): Promise<SpliceOutcome<T>> {
  const { clock, threshold, endsAtMs, signal } = context
  signal.throwIfAborted()
  const needed = votesNeeded(threshold, list.nodeCount, list.trust)
  const state = createVoteState(list.voters, needed)
  const over = new AbortController()
  let forget = () => {}
  try {
    const verdict = await new Promise<VoteVerdict>((resolve, reject) => {
      const feed = (event: VoteEvent): void => {
        for (const effect of step(state, event, clock.monotonicMs())) {
          if (effect.kind === 'ask') void ask(effect.voter)
          else if (effect.kind === 'wake') wake(effect.atMs, { kind: 'woke' })
          else resolve(effect.verdict)
        }
      }
      const wake = (atMs: number, event: VoteEvent): void => {
        const ms = Math.max(0, atMs - clock.monotonicMs())
        const onTime = () => feed(event)
        clock.delay(ms, over.signal).then(onTime, () => {}) // The read has ended.
      }
      const ask = async (voter: Voter): Promise<void> => {
        const reply = await askScan(question, voter, { ...context, signal: over.signal })
        feed({ kind: 'reply', voter, reply })
      }
      forget = onAbort(signal, () => reject(signal.reason))
      wake(endsAtMs, { kind: 'deadline' })
      feed({ kind: 'began' })
    })
    return outcomeOf<T>(question.what, verdict, state, list)
  } finally {
    state.isOver = true
    forget()
    over.abort(READ_ENDED)
  }
}

/** Asks one scan. Every error is a failure of the scan. */
async function askScan(
  question: Question<JsonValue>,
  { urls, requestCount }: Voter,
  { transport, clock, signal }: Pick<ReadContext, 'transport' | 'clock' | 'signal'>,
): Promise<ParsedReply> {
  const { path, body, bytesMax } = question
  const url = urls[(requestCount - 1) % urls.length] as string // Each voter has one.
  const bound = { clock, timeoutMs: SCAN_TIMEOUT_MS, signal, what: url }
  try {
    const reply = await withDeadline(bound, (signal) =>
      transport.request({
        url,
        method: body === null ? 'GET' : 'POST',
        path,
        // Without headers a GET needs no preflight in a browser.
        headers: body === null ? {} : { 'content-type': 'application/json' },
        body: body === null ? null : new TextEncoder().encode(JSON.stringify(body)),
        bytesMax,
        channel: 'lookup',
        // Other machines need https, and private addresses have no certificates.
        isPublicOnly: false,
        signal,
      }),
    )
    return parseReply(question, reply, clock.nowMicros())
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { kind: 'failed', failure: { reason, isReachable: false }, retryAfterMs: null }
  }
}

/**
 * Parses one reply. A vote is a 200 with an answer of the right form, or the 404 that means absence. A 404 of a wrong
 * address, of a proxy or of a scan that has not started is a failure.
 */
function parseReply(question: Question<JsonValue>, reply: TransportReply, nowMicros: number) {
  const { status } = reply
  if (status !== 200 && status !== 404)
    return failed(`HTTP status ${status}`, retryAfter(reply.header('retry-after')))
  let body: JsonValue
  try {
    body = parseExactJson(new TextDecoder('utf-8', { fatal: true }).decode(reply.body))
  } catch {
    return failed(`not JSON, with HTTP status ${status}`)
  }
  if (status === 404)
    return question.absence !== null && isObject(body) && body['error'] === question.absence
      ? answered(null)
      : failed('a 404 with another meaning')
  const value = question.read(body, nowMicros)
  return value === undefined ? failed('not an answer to the question') : answered(value)
}

function answered(value: JsonValue | null): ParsedReply {
  return { kind: 'answered', value, answer: canonicalText(value) }
}

/** The reply is not an answer. */
function failed(reason: string, retryAfterMs: number | null = null): ParsedReply {
  return { kind: 'failed', failure: { reason, isReachable: true }, retryAfterMs }
}

/** The outcome for the caller. */
function outcomeOf<T>(
  what: string,
  verdict: VoteVerdict,
  { voters, needed, ballot }: VoteState,
  { nodeCount, faultyMax, trust, basis }: MemberList,
): SpliceOutcome<T> {
  const base = { needed, nodeCount, faultyMax, trust, basis }
  switch (verdict.kind) {
    case 'agreed': {
      // The verdict is of one of the groups.
      const group = ballot.groups.find(({ vote }) => vote.answer === verdict.answer)
      const isAgreed = ({ index }: Voter) => group?.voters.includes(index) === true
      const value = (group?.vote.value ?? null) as T | null
      const voted = voters.filter(({ hasAnswered }) => hasAnswered)
      return {
        ...base,
        kind: 'proven',
        value,
        recordTime: null,
        validUntil: null,
        agreed: voted.filter(isAgreed).map(({ svName }) => svName),
        dissented: voted.filter((voter) => !isAgreed(voter)).map(({ svName }) => svName),
      }
    }
    case 'disputed':
    case 'lagging':
      return spliceFailure(what, {
        ...base,
        kind: verdict.kind,
        groups: groupsOf<T>(voters, ballot),
      })
    case 'insufficient': {
      const silent = voters.filter(({ hasAnswered }) => !hasAnswered)
      const failures = silent.map(({ svName, failure }) => ({ svName, ...(failure ?? SILENCE) }))
      const reachable = voters.length - silent.length
      return spliceFailure(what, { ...base, kind: verdict.kind, reachable, failures })
    }
  }
}

/** Groups of equal answers, largest first; of equal ones, the one of the first super-validator. */
function groupsOf<T>(
  voters: VoteState['voters'],
  { groups }: VoteState['ballot'],
): SpliceAnswers<T>[] {
  return [...groups]
    .sort(
      (a, b) => b.voters.length - a.voters.length || Math.min(...a.voters) - Math.min(...b.voters),
    )
    .map((group) => ({
      svNames: voters
        .filter(({ index }) => group.voters.includes(index))
        .map(({ svName }) => svName),
      value: group.vote.value as T | null,
    }))
}
