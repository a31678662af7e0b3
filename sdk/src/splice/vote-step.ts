/**
 * One question put to several super-validators, and what its answers amount to.
 *
 * A state machine: `step` changes the state and returns effects. It reads no clock, has no sockets and knows no
 * answer but by its canonical text; `vote-driver.ts` owns those.
 *
 * Each super-validator has one vote, its newest answer in this read. A failure is no vote and takes none back. As
 * soon as `needed` votes are equal the read is over. Whoever failed is asked again after a pause, and while votes
 * differ everybody is, since whoever lags catches up; at the deadline the votes are what they are.
 */
import type { VoteRules } from './vote-rules.ts'

/** Why a request got no answer. */
export type VoteFailure = {
  readonly reason: string
  /** Something replied. */
  readonly isReachable: boolean
}

/** A super-validator in one read. */
export type Voter = {
  readonly name: string
  /** A request to it is on its way. */
  isAsked: boolean
  /** Its newest answer, as canonical text. */
  answer: string | null
  /** In a row. */
  failureCount: number
  /** Of its newest request; null if that did not fail. */
  failure: VoteFailure | null
  /** It asked to be left alone until then, by the monotonic clock. */
  restsUntilMs: number
}

/** One read. Owned by whoever steps. */
export type VoteState = {
  readonly voters: readonly Voter[]
  /** Equal votes that decide. */
  readonly needed: number
  roundCount: number
  isWaking: boolean
  /** Somebody came over to what somebody else had said before: they differ because they lag. */
  hasConverged: boolean
  isOver: boolean
}

/** What happens to a read. `voter` is an index. */
export type VoteEvent =
  | { readonly kind: 'started' }
  | { readonly kind: 'answered'; readonly voter: number; readonly answer: string }
  | {
      readonly kind: 'failed'
      readonly voter: number
      readonly failure: VoteFailure
      /** How long the node asks to be left alone. */
      readonly retryAfterMs: number | null
    }
  | { readonly kind: 'woke' }
  | { readonly kind: 'deadline' }

/** What a step looks at besides the state. */
export type StepContext = {
  /** By the monotonic clock. */
  readonly nowMs: number
  readonly rules: VoteRules
}

/** What is to be done about it. */
export type VoteEffect =
  | { readonly kind: 'ask'; readonly voter: number }
  | { readonly kind: 'wake'; readonly afterMs: number }
  | { readonly kind: 'end'; readonly verdict: VoteVerdict }

export type VoteVerdict =
  | { readonly kind: 'agreed'; readonly answer: string }
  /** Enough answered, and not the same. `lagging`: some were on their way to the same. */
  | { readonly kind: 'disputed' | 'lagging' }
  /** Fewer than needed answered at all. */
  | { readonly kind: 'insufficient' }

/** Between two rounds, doubling: answers are some hundred ms old when they come, rounds of the ledger some seconds apart. */
const PAUSE_MS = 100
const PAUSE_MS_MAX = 1000

export function createVoteState(options: {
  readonly names: readonly string[]
  readonly needed: number
}): VoteState {
  const { names, needed } = options
  return {
    voters: names.map((name) => ({
      name,
      isAsked: false,
      answer: null,
      failureCount: 0,
      failure: null,
      restsUntilMs: 0,
    })),
    needed,
    roundCount: 0,
    isWaking: false,
    hasConverged: false,
    isOver: false,
  }
}

/** What follows from an event; nothing once the read is over. */
export function step(state: VoteState, event: VoteEvent, context: StepContext): VoteEffect[] {
  if (state.isOver) return []
  const { nowMs, rules } = context
  switch (event.kind) {
    case 'started':
      return round(state, context)
    case 'answered': {
      const voter = heard(state, event.voter)
      const said = rules.votersOf(state.voters, event.answer).some((other) => other !== voter)
      if (voter.answer !== null && voter.answer !== event.answer && said) state.hasConverged = true
      voter.answer = event.answer
      voter.failureCount = 0
      voter.failure = null
      return judge(state, voter, context)
    }
    case 'failed': {
      const voter = heard(state, event.voter)
      voter.failureCount++
      voter.failure = event.failure
      voter.restsUntilMs = nowMs + (event.retryAfterMs ?? 0)
      voter.answer = rules.answerOfFailure(event.failure.reason) ?? voter.answer
      return judge(state, voter, context)
    }
    case 'woke':
      state.isWaking = false
      return round(state, context)
    case 'deadline':
      return end(state, undecided(state))
  }
}

/** Asks whom it helps to ask. */
function round(state: VoteState, context: StepContext): VoteEffect[] {
  state.roundCount++
  const asked: VoteEffect[] = []
  for (const voter of idle(state, context)) {
    if (voter.restsUntilMs > context.nowMs) continue
    voter.isAsked = true
    asked.push({ kind: 'ask', voter: state.voters.indexOf(voter) })
  }
  return [...asked, ...settle(state, context)]
}

/** Who is not being asked, and could change something: by an answer, or by another one where answers differ. */
function idle({ voters }: VoteState, { rules }: StepContext): Voter[] {
  const isOpen = doDiffer(voters)
  return voters.filter(
    ({ isAsked, answer, failureCount }) =>
      !isAsked && !rules.isGivenUp(failureCount) && (answer === null || isOpen),
  )
}

function doDiffer(voters: readonly Voter[]): boolean {
  return new Set(voters.flatMap(({ answer }) => answer ?? [])).size > 1
}

/** Whether the newest vote decides. */
function judge(state: VoteState, { answer }: Voter, context: StepContext): VoteEffect[] {
  if (answer !== null && context.rules.votersOf(state.voters, answer).length >= state.needed)
    return end(state, { kind: 'agreed', answer })
  return settle(state, context)
}

/** Ends where waiting is in vain, and plans the next round where this one will not decide. */
function settle(state: VoteState, context: StepContext): VoteEffect[] {
  const { voters, needed } = state
  const usable = voters.filter(
    ({ answer, failureCount }) => answer !== null || !context.rules.isGivenUp(failureCount),
  )
  if (usable.length < needed) return end(state, { kind: 'insufficient' })
  const next = idle(state, context)
  if (state.isWaking || next.length === 0) return []
  state.isWaking = true
  const restMs = Math.min(...next.map(({ restsUntilMs }) => restsUntilMs)) - context.nowMs
  const pauseMs = Math.min(PAUSE_MS * 2 ** (state.roundCount - 1), PAUSE_MS_MAX)
  return [{ kind: 'wake', afterMs: Math.max(pauseMs, restMs) }]
}

function undecided({ voters, needed, hasConverged }: VoteState): VoteVerdict {
  if (voters.filter(({ answer }) => answer !== null).length < needed)
    return { kind: 'insufficient' }
  return { kind: hasConverged ? 'lagging' : 'disputed' }
}

function end(state: VoteState, verdict: VoteVerdict): VoteEffect[] {
  state.isOver = true
  return [{ kind: 'end', verdict }]
}

/** The voter whose request is over. */
function heard(state: VoteState, index: number): Voter {
  const voter = state.voters[index] as Voter // The driver names those that it was told to ask.
  voter.isAsked = false
  return voter
}
