/** One read on its way: what is asked, and what the nodes said so far, round by round. */
import type { Lookup } from '../statements/requests.ts'
import type { Outcome, ReadOptions } from '../votes/outcome.ts'
import { type Ballot, createBallot, type Vote } from '../votes/tally.ts'
import type { ReadRequest } from './reader-options.ts'

/** What a node did in a round. */
export const STANDING = { none: 0, asked: 1, voted: 2, lagging: 3, failed: 4 } as const
type Standing = (typeof STANDING)[keyof typeof STANDING]

/** One try at one offset; a read has at most two (D-37). */
export type Round = {
  /** Null where the request names its offset itself. */
  readonly pin: number | null
  startedAtMs: number
  readonly ballot: Ballot
  /** By connection. */
  readonly standings: Standing[]
  readonly reasons: Map<number, string>
  /** Of votes that were signed: hex, by connection. */
  readonly signatures: Map<number, string>
}

export type Item = {
  readonly asked:
    | { readonly kind: 'lookup'; readonly lookup: Lookup }
    | { readonly kind: 'read'; readonly request: ReadRequest }
  readonly threshold: number
  readonly minOffset: number
  readonly maxAgeMs: number
  readonly sign: boolean
  readonly explain: boolean
  readonly headers: Readonly<Record<string, string>> | undefined
  startedAtMs: number
  /** When it ends with what is known. */
  endsAtMs: number
  readonly rounds: Round[]
  /** The offset of the second round, while the item waits for it. */
  nextPin: number | null
  /** Set once the votes agreed on something older than asked. */
  staleAgeMs: number | null
  isDone: boolean
  /** The time that the read may wait has passed: who has not voted will not. */
  isOverdue: boolean
  /** What was decided, to count late dissent. */
  decided: Vote | null
  /** Of the canonical request, computed once. */
  requestHash: Promise<string> | null
  deliver(outcome: Outcome): void
  fail(reason: unknown): void
}

export function createItem(
  input: Pick<Item, 'asked' | 'threshold' | 'startedAtMs' | 'endsAtMs' | 'deliver' | 'fail'> & {
    readonly options: ReadOptions
    readonly maxAgeMs: number
  },
): Item {
  return {
    asked: input.asked,
    threshold: input.threshold,
    minOffset: input.options.minOffset ?? 0,
    maxAgeMs: input.maxAgeMs,
    sign: input.options.sign ?? false,
    explain: input.options.explain ?? false,
    headers: input.options.headers,
    startedAtMs: input.startedAtMs,
    endsAtMs: input.endsAtMs,
    rounds: [],
    nextPin: null,
    staleAgeMs: null,
    isDone: false,
    isOverdue: false,
    decided: null,
    requestHash: null,
    deliver: input.deliver,
    fail: input.fail,
  }
}

export function createRound(options: {
  readonly pin: number | null
  readonly startedAtMs: number
  readonly connectionCount: number
}): Round {
  return {
    pin: options.pin,
    startedAtMs: options.startedAtMs,
    ballot: createBallot(),
    standings: new Array<Standing>(options.connectionCount).fill(STANDING.none),
    reasons: new Map(),
    signatures: new Map(),
  }
}

/** Whether a request that names its own offset: neither floor nor freshness nor pin (D-39). */
export function isSelfPinned(item: Item): boolean {
  return item.asked.kind === 'read' && item.asked.request.pin === 'request'
}

/** Whether a node said that it no longer holds the offset: then a newer one may do better. */
export function isPruned(round: Round): boolean {
  return [...round.reasons.values()].includes('pruned')
}
