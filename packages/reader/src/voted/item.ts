/** One read on its way: what is asked, and what the nodes said so far, round by round. */

import type { Lookup } from '@quorumscan/verifier'
import type { ReaderError, ReadRequest } from '../reader-options.ts'
import type { Decided, Disputed, Insufficient, Lagging, VoteGroup } from '../votes/outcome.ts'
import { type Ballot, createBallot, type Vote } from '../votes/tally.ts'

export type Asked =
  | { readonly kind: 'lookup'; readonly lookup: Lookup }
  | { readonly kind: 'read'; readonly request: ReadRequest }

/** What a caller asks together, with every option filled in and checked. */
export type Wanted = {
  readonly asked: readonly Asked[]
  /** Equal votes needed. */
  readonly threshold: number
  readonly minOffset: number
  readonly maxAgeMs: number
  readonly headers: Readonly<Record<string, string>> | undefined
}

/** As the outcome that the caller gets, with the answers themselves in the place of their digests. */
export type Undecided =
  | Insufficient
  | Lagging
  | (Omit<Disputed, 'groups'> & { readonly groups: readonly Undigested[] })
export type Undigested = Omit<VoteGroup, 'answerDigest'> & Pick<Vote, 'answer'>

/** One for each that was asked; an error where there is no room for them. */
export type Ended = (Decided | Undecided)[] | ReaderError

/** The items of one caller, which end together. */
export type Call = {
  readonly id: number
  readonly items: Item[]
  readonly outcomes: (Decided | Undecided)[]
  missing: number
}

/** What a node did in a round; `open`: nothing yet. */
export type Standing = 'open' | 'voted' | 'lagging' | 'failed'

/** One try at one offset; a read has at most two (D-37). */
export type Round = {
  /** Null where the request names its offset itself. */
  readonly pin: number | null
  readonly startedAtMs: number
  readonly ballot: Ballot
  /** By node. */
  readonly standings: Standing[]
  /** Why a node does not vote, by node. */
  readonly reasons: Map<number, string>
}

export type Item = Omit<Wanted, 'asked'> & {
  readonly call: Call
  /** Its place among those of the call. */
  readonly index: number
  readonly asked: Asked
  readonly startedAtMs: number
  readonly rounds: Round[]
  /** The offset of the second round, while the item waits for it. */
  nextPin: number | null
  /** Set once the votes agreed on something older than asked. */
  staleAgeMs: number | null
  /** Decided, refused, or not wanted any more: nothing more is decided about it. */
  isDone: boolean
  /** The time that the read may wait has passed: a node that has not voted will not. */
  isOverdue: boolean
  /** What was decided, to count late dissent. */
  decided: Vote | null
}

export function createCall(id: number, wanted: Wanted, startedAtMs: number): Call {
  const { asked, threshold, minOffset, maxAgeMs, headers } = wanted
  const call: Call = { id, items: [], outcomes: [], missing: asked.length }
  // Field by field: objects of spread others are several times as slow to look into, and a crowd of them is.
  for (const [index, one] of asked.entries())
    call.items.push({
      call,
      index,
      asked: one,
      threshold,
      minOffset,
      maxAgeMs,
      headers,
      startedAtMs,
      rounds: [],
      nextPin: null,
      staleAgeMs: null,
      isDone: false,
      isOverdue: false,
      decided: null,
    })
  return call
}

export function createRound(options: {
  readonly pin: number | null
  readonly startedAtMs: number
  readonly nodeCount: number
}): Round {
  return {
    pin: options.pin,
    startedAtMs: options.startedAtMs,
    ballot: createBallot(),
    standings: new Array<Standing>(options.nodeCount).fill('open'),
    reasons: new Map(),
  }
}

/** Whether a request that names its own offset: neither floor nor freshness nor pin (D-39). */
export function isSelfPinned({ asked }: Item): boolean {
  return asked.kind === 'read' && asked.request.pin === 'request'
}

/** Whether a node said that it no longer holds the offset: then a newer one may do better. */
export function isPruned(round: Round): boolean {
  return [...round.reasons.values()].includes('pruned')
}

/** The latest round at the pin. */
export function roundAt(item: Item, pin: number | null): Round | undefined {
  return item.rounds.findLast((round) => round.pin === pin)
}

/** Whether the node's vote could still change the item. */
export function isVoteWanted(item: Item, pin: number | null, node: number): boolean {
  return !item.isDone && roundAt(item, pin)?.standings[node] === 'open'
}
