/**
 * The decider of reads of a Splice network: one question to several super-validators. Deterministic: `step` updates the
 * state and returns effects; `question.ts` owns sockets and clock. The tally is that of `@quorumscan/reader`, with
 * the comparison of this reader: votes are answers as exact JSON, compared by their canonical text.
 *
 * Each super-validator has one vote, its newest answer in this read. A failure is not a vote, and withdraws none. The
 * read ends as soon as `needed` votes are equal. Super-validators that failed are asked again after a pause. While votes
 * differ all are asked again, since lagging ones catch up. At the deadline the existing votes decide.
 *
 * It has its own driver, because that of `@quorumscan/reader` would take the bundle over its limit.
 */
import { type Ballot, castVote, createBallot, withdrawVote } from '@quorumscan/reader'
import { maxFaulty, type TrustRule } from '@quorumscan/verifier'
import { failure } from '../errors.ts'
import type { JsonValue } from './exact-json.ts'

/**
 * How many answers must be equal. `f+1`: at least one honest super-validator gave the answer; of two or three, a majority,
 * since none of them may lie. `2f+1`: more than half of the honest ones did. A number: from f+1 to n.
 */
export type SpliceThreshold = 'f+1' | '2f+1' | number

/** Consecutive failures; with their pauses, a scan that recovers within 1.5 s still answers. */
const FAILURES_MAX = 5

/**
 * How many of n answers must be equal: of fewer than four a majority, of a trust rule its threshold, at least.
 *
 * @throws {QuorumscanError} INVALID_QUORUM for a number below that or above n.
 */
export function votesNeeded(
  threshold: SpliceThreshold,
  nodeCount: number,
  trust: TrustRule | null = null,
): number {
  const faultyMax = trust === null ? maxFaulty(nodeCount) : trust.threshold - 1
  const majority = trust === null && nodeCount < 4 ? Math.floor(nodeCount / 2) + 1 : 0
  const least = Math.max(faultyMax + 1, majority)
  const twice = threshold === '2f+1' ? Math.max(2 * faultyMax + 1, least) : threshold
  const votes = twice === 'f+1' ? least : twice
  if (Number.isInteger(votes) && votes >= least && votes <= nodeCount) return votes
  const message = `The threshold is f+1, 2f+1 or a number from ${least} to ${nodeCount}.`
  throw failure('INVALID_QUORUM', message)
}

/** Why a request has no answer. */
export type VoteFailure = {
  readonly reason: string
  /** Whether a server replied. */
  readonly isReachable: boolean
}

/** A super-validator with the addresses of its scans, to which requests go in turn. */
export type MemberScans = { readonly svName: string; readonly urls: readonly string[] }

/** An answer as canonical text and as a value; null: it does not exist. */
export type Answer = { readonly answer: string; readonly value: JsonValue | null }

/** A super-validator in one read. */
export type Voter = MemberScans & {
  readonly index: number
  isAsked: boolean
  requestCount: number
  /** Whether the ballot has an answer of it. */
  hasAnswered: boolean
  /** Consecutive failures. */
  failureCount: number
  /** The failure of its newest request; null if that did not fail. */
  failure: VoteFailure | null
  /** No request is sent before this time of the monotonic clock, by its `retry-after`. */
  backOffUntilMs: number
}

/** A parsed reply. */
export type ParsedReply =
  | (Answer & { readonly kind: 'answered' })
  | {
      readonly kind: 'failed'
      readonly failure: VoteFailure
      /** How long the scan asks to wait. */
      readonly retryAfterMs: number | null
    }

export type VoteEvent =
  | { readonly kind: 'began' | 'woke' | 'deadline' }
  | { readonly kind: 'reply'; readonly voter: Voter; readonly reply: ParsedReply }

export type VoteEffect =
  | { readonly kind: 'ask'; readonly voter: Voter }
  | { readonly kind: 'wake'; readonly atMs: number }
  | { readonly kind: 'done'; readonly verdict: VoteVerdict }

export type VoteVerdict =
  | { readonly kind: 'agreed'; readonly answer: string }
  /** Enough answered, but not equally. `lagging`: some changed to the answer of others. */
  | { readonly kind: 'disputed' | 'lagging' }
  /** Too few answered. */
  | { readonly kind: 'insufficient' }

/** One read. */
export type VoteState = {
  readonly voters: readonly Voter[]
  /** How many votes must be equal. */
  readonly needed: number
  /** The newest answer of each, by its index. */
  readonly ballot: Ballot<Answer>
  roundCount: number
  isWaking: boolean
  /** A voter changed to an earlier answer of another one: votes differ because of lag. */
  hasConverged: boolean
  isOver: boolean
}

/** Pause between two rounds, doubling. Answers take some hundred ms, and ledger rounds some seconds. */
const PAUSE_MS = 100
const PAUSE_MS_MAX = 1000

export function createVoteState(members: readonly MemberScans[], needed: number): VoteState {
  const silent = { hasAnswered: false, failure: null, failureCount: 0, backOffUntilMs: 0 }
  return {
    voters: members.map((one, index) => ({
      ...one,
      ...silent,
      index,
      isAsked: false,
      requestCount: 0,
    })),
    needed,
    ballot: createBallot(isSameAnswer),
    roundCount: 0,
    isWaking: false,
    hasConverged: false,
    isOver: false,
  }
}

function isSameAnswer(a: Answer, b: Answer): boolean {
  return a.answer === b.answer
}

/** The effects of an event; none once the read has ended. */
export function step(state: VoteState, event: VoteEvent, nowMs: number): VoteEffect[] {
  if (state.isOver) return []
  if (event.kind === 'deadline') return end(state, undecided(state))
  if (event.kind === 'reply') {
    recordReply(state, event.voter, event.reply, nowMs)
    return evaluate(state, nowMs)
  }
  state.isWaking = false
  return round(state, nowMs)
}

function recordReply(state: VoteState, voter: Voter, reply: ParsedReply, nowMs: number): void {
  voter.isAsked = false
  if (reply.kind === 'answered') {
    const { answer, value } = reply
    const { ballot } = state
    const { index } = voter
    const before = ballot.groups.find(({ voters }) => voters.includes(index))?.vote.answer ?? answer
    withdrawVote(ballot, index)
    const { voters } = castVote(ballot, { voter: index, vote: { answer, value } })
    if (before !== answer && voters.length > 1) state.hasConverged = true
    Object.assign(voter, { hasAnswered: true, failureCount: 0, failure: null })
    return
  }
  const { failure, retryAfterMs } = reply
  voter.failureCount++
  voter.failure = failure
  voter.backOffUntilMs = nowMs + (retryAfterMs ?? 0)
}

/** Whether a super-validator with so many consecutive failures is not asked again in this read. */
function isGivenUp(failureCount: number): boolean {
  return failureCount >= FAILURES_MAX
}

/** Asks the voters whose answers can help. */
function round(state: VoteState, nowMs: number): VoteEffect[] {
  state.roundCount++
  const asked = idle(state).filter(({ backOffUntilMs }) => backOffUntilMs <= nowMs)
  for (const voter of asked) {
    voter.isAsked = true
    voter.requestCount++
  }
  const effects = asked.map((voter) => ({ kind: 'ask', voter }) as const)
  return [...effects, ...planNextRound(state, nowMs)]
}

/** Idle voters whose answer could change the verdict: without an answer, or while answers differ. */
function idle({ voters, ballot }: VoteState): Voter[] {
  const isOpen = ballot.groups.length > 1
  return voters.filter(
    ({ isAsked, hasAnswered, failureCount }) =>
      !isAsked && !isGivenUp(failureCount) && (!hasAnswered || isOpen),
  )
}

/** Ends the read if the votes decide it. */
function evaluate(state: VoteState, nowMs: number): VoteEffect[] {
  const agreed = state.ballot.groups.find(({ voters }) => voters.length >= state.needed)
  return agreed === undefined
    ? planNextRound(state, nowMs)
    : end(state, { kind: 'agreed', answer: agreed.vote.answer })
}

/** Ends a read that cannot succeed, or plans the next round. */
function planNextRound(state: VoteState, nowMs: number): VoteEffect[] {
  const { voters, needed } = state
  const usable = voters.filter(
    ({ hasAnswered, failureCount }) => hasAnswered || !isGivenUp(failureCount),
  )
  if (usable.length < needed) return end(state, { kind: 'insufficient' })
  const next = idle(state)
  if (state.isWaking || next.length === 0) return []
  state.isWaking = true
  const pauseMs = Math.min(PAUSE_MS * 2 ** (state.roundCount - 1), PAUSE_MS_MAX)
  const backOffUntilMs = Math.min(...next.map((voter) => voter.backOffUntilMs))
  return [{ kind: 'wake', atMs: Math.max(nowMs + pauseMs, backOffUntilMs) }]
}

function undecided({ ballot, needed, hasConverged }: VoteState): VoteVerdict {
  if (ballot.votedCount < needed) return { kind: 'insufficient' }
  return { kind: hasConverged ? 'lagging' : 'disputed' }
}

function end(state: VoteState, verdict: VoteVerdict): VoteEffect[] {
  state.isOver = true
  return [{ kind: 'done', verdict }]
}
