/** Drives one read: sends what the state machine asks for, keeps its time, and tells what it ends in. */

import type { Transport } from '@quorumscan/reader'
import { maxFaulty } from '@quorumscan/verifier'
import type { Clock } from '../platform/clock.ts'
import { withDeadline } from '../platform/deadline.ts'
import { canonicalText, type JsonValue } from './exact-json.ts'
import type { SpliceAnswers, SpliceOutcome, SpliceParticipation } from './outcome.ts'
import { type Judged, judgeReply, type Question } from './question.ts'
import { type SpliceThreshold, VOTE_RULES } from './vote-rules.ts'
import {
  createVoteState,
  step,
  type VoteEvent,
  type VoteState,
  type VoteVerdict,
} from './vote-step.ts'

/** Whom to ask. */
export type Electorate = {
  /** n, those without an address included. */
  readonly nodeCount: number
  /** Super-validators with an address, each once. Where there are several URLs, they are tried in turn. */
  readonly voters: readonly { readonly svName: string; readonly urls: readonly string[] }[]
}

export type ReadContext = {
  readonly transport: Transport
  readonly clock: Clock
  readonly threshold: SpliceThreshold
  /** When the read has to be over, by the monotonic clock. */
  readonly endsAtMs: number
  /** Ends the read: it rejects with the signal's reason. */
  readonly signal: AbortSignal
}

/** A scan that has not answered by then has failed; who needs it asks once more. */
const SCAN_TIMEOUT_MS = 5_000
const SILENCE = { reason: 'no answer in time', isReachable: false }
const JSON_HEADERS = { 'content-type': 'application/json' }

/**
 * Asks all of the electorate.
 *
 * @throws {QuorumscanError} INVALID_QUORUM. What scans say, or fail to say, is an outcome.
 */
export async function readByVotes<T extends JsonValue>(
  question: Question<T>,
  electorate: Electorate,
  context: ReadContext,
): Promise<SpliceOutcome<T>> {
  const { clock, signal } = context
  const { nodeCount, voters } = electorate
  signal.throwIfAborted()
  const needed = VOTE_RULES.votesNeeded(context.threshold, nodeCount)
  const state = createVoteState({ names: voters.map(({ svName }) => svName), needed })
  /** Of each voter's newest answer. */
  const values = voters.map((): T | null => null)
  const requestCounts = voters.map(() => 0)
  const over = new AbortController()

  try {
    const verdict = await new Promise<VoteVerdict>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { signal: over.signal })
      const feed = (event: VoteEvent): void => {
        const effects = step(state, event, { nowMs: clock.monotonicMs(), rules: VOTE_RULES })
        for (const effect of effects) {
          if (effect.kind === 'ask') ask(effect.voter)
          else if (effect.kind === 'wake') after(effect.afterMs, { kind: 'woke' })
          else resolve(effect.verdict)
        }
      }
      const after = (ms: number, event: VoteEvent): void => {
        clock.delay(ms, over.signal).then(
          () => feed(event),
          () => {}, // The read is over.
        )
      }
      const ask = (voter: number): void => {
        const { urls } = voters[voter] as Electorate['voters'][number]
        const count = requestCounts[voter] as number
        requestCounts[voter] = count + 1
        const url = urls[count % urls.length] as string // None is without.
        // One each: Node warns of a leak at the eleventh listener.
        askScan(question, url, { ...context, signal: AbortSignal.any([over.signal]) })
          .then((judged) => {
            if (judged.kind === 'failed') return feed({ ...judged, voter })
            if (!state.isOver) values[voter] = judged.value
            feed({ kind: 'answered', voter, answer: canonicalText(judged.value) })
          })
          .catch(reject)
      }
      after(Math.max(0, context.endsAtMs - clock.monotonicMs()), { kind: 'deadline' })
      feed({ kind: 'started' })
    })
    return outcomeOf(verdict, { state, values, nodeCount })
  } finally {
    state.isOver = true
    over.abort()
  }
}

/** Asks one scan; whatever goes wrong is a failure of it. */
async function askScan<T extends JsonValue>(
  question: Question<T>,
  url: string,
  { transport, clock, signal }: Pick<ReadContext, 'transport' | 'clock' | 'signal'>,
): Promise<Judged<T>> {
  const { method, path, bytesMax, body } = question
  const bound = { clock, timeoutMs: SCAN_TIMEOUT_MS, signal, what: url }
  try {
    const reply = await withDeadline(bound, (signal) =>
      transport.request({
        url,
        method,
        path,
        // A GET needs none, and so no preflight in a browser.
        headers: body === null ? {} : JSON_HEADERS,
        body: body === null ? null : new TextEncoder().encode(JSON.stringify(body)),
        bytesMax,
        channel: 'lookup',
        // Beyond this machine there is https alone, and no certificate is given for an address that is not public.
        isPublicOnly: false,
        signal,
      }),
    )
    return judgeReply(question, reply, clock.nowMicros())
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { kind: 'failed', failure: { reason, isReachable: false }, retryAfterMs: null }
  }
}

function outcomeOf<T>(
  verdict: VoteVerdict,
  read: {
    readonly state: VoteState
    readonly values: readonly (T | null)[]
    readonly nodeCount: number
  },
): SpliceOutcome<T> {
  const { state, nodeCount } = read
  const { needed, voters } = state
  const base: SpliceParticipation = { needed, nodeCount, faultyMax: maxFaulty(nodeCount) }
  switch (verdict.kind) {
    case 'agreed': {
      const value = read.values[voters.findIndex(({ answer }) => answer === verdict.answer)] ?? null
      const voted = voters.filter(({ answer }) => answer !== null)
      const namesWhere = (isSame: boolean) =>
        voted.filter(({ answer }) => (answer === verdict.answer) === isSame).map(({ name }) => name)
      const parts = { ...base, agreed: namesWhere(true), dissented: namesWhere(false) }
      return value === null
        ? { kind: 'agreed-absent', value, ...parts }
        : { kind: 'agreed', value, ...parts }
    }
    case 'disputed':
    case 'lagging':
      return { kind: verdict.kind, ...base, groups: groupsOf(state, read.values) }
    case 'insufficient':
      return {
        kind: verdict.kind,
        ...base,
        reachable: voters.filter(({ answer }) => answer !== null).length,
        failures: voters.flatMap(({ name, answer, failure }) =>
          answer === null ? { svName: name, ...(failure ?? SILENCE) } : [],
        ),
      }
  }
}

/** Who said the same, most first. */
function groupsOf<T>(state: VoteState, values: readonly (T | null)[]): SpliceAnswers<T>[] {
  const groups = new Map<string, { readonly svNames: string[]; readonly value: T | null }>()
  for (const [index, { name, answer }] of state.voters.entries()) {
    if (answer === null) continue
    const group = groups.get(answer)
    if (group === undefined) groups.set(answer, { svNames: [name], value: values[index] ?? null })
    else group.svNames.push(name)
  }
  return [...groups.values()].sort((a, b) => b.svNames.length - a.svNames.length)
}
