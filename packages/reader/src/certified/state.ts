/** What a reader of certified answers knows, hears and does: the words of `decider.ts`. */
import type { Lookup } from '@quorumscan/verifier'
import type { AnyQuestion, CheckedCertificate } from '@quorumscan/verifier/certified'
import type { Bounds } from '../base.ts'
import { createWorld, type Event, type World } from '../driver/decider.ts'
import { createSource, type Flight, type Source } from '../source/source.ts'
import { CERTIFIED_DECISIONS, type CertifiedDecisions } from './decisions.ts'
import type { CertifiedRequest } from './requests.ts'

/** What a caller wants: lookups, or another request. */
export type Wanted = Bounds & {
  readonly lookups: readonly Lookup[]
  /** Lookups with equal ones may share a request; null: these share none. */
  readonly key: string | null
  /** Undefined: the lookups. */
  readonly request?: CertifiedRequest<unknown>
  readonly question?: AnyQuestion<unknown>
}

/** A read as its caller knows it. Calls with lookups may share what is read for them. */
export type Call = { readonly id: number; readonly input: Wanted; read: Read | null }

/** Enough members signed each of them, and no ledger was in both states. */
export type Contradiction = readonly [CheckedCertificate, CheckedCertificate]

/** A proven answer. The decider does not look into `answer`. */
export type Told = { readonly point: CheckedCertificate; readonly answer: unknown }

/** What a node answered. */
export type Reply =
  /** A certificate, and the answer that was asked for, if any. */
  | ({ readonly kind: 'told' } & Told)
  /** `behind`: has no such certificate yet. `gone`: not any more. `limit`: we ask too much. */
  | {
      readonly kind: 'behind' | 'gone' | 'limit' | 'unable'
      readonly reason: string
      readonly retryAfterMs: number | null
    }
  | { readonly kind: 'lied'; readonly reason: string }

export type Ending =
  | ({ readonly kind: 'answered' } & Told)
  | { readonly kind: 'disputed'; readonly points: Contradiction }
  | {
      readonly kind: 'insufficient'
      readonly retryAfterMs: number | null
      readonly unproven: string | null
    }
  | {
      readonly kind: 'lagging'
      readonly reason: 'not-reached' | 'stale' | 'floor' | 'pruned'
      readonly wantedOffset: number
      readonly headOffset: number | null
      readonly ageMs: number | null
    }

/** How a call ended. */
export type Ended = {
  readonly ending: Ending
  readonly read: Pick<Read, 'request' | 'reached'>
  /** Where its own lookups begin among those that were asked together. */
  readonly first: number
}

export type Learned =
  /** A node signed that it is there. */
  | { readonly kind: 'located'; readonly name: string; readonly url: string }
  /** All that could tell addresses was asked, or is asked again. */
  | { readonly kind: 'learning'; readonly isOver: boolean }

export type ReaderEvent = Event<Asked, Reply, Wanted> | Learned

/** A request to a node. */
export interface Asked extends Flight<Asked> {
  /** null: for its newest certificate alone. */
  readonly read: Read | null
  readonly minOffset: number
  /** When the node was first asked for this read. */
  readonly beganAtMs: number
  /** Another node is asked too. */
  isLate: boolean
  /** It counts as heard. */
  isSilent: boolean
}

/** What is asked for one call, or for several together. */
export type Read = {
  /** The first of them says how much is believed. */
  readonly wanted: Wanted
  readonly calls: readonly Call[]
  readonly request: CertifiedRequest<unknown>
  /** Made of the request once it is asked. */
  question: AnyQuestion<unknown> | undefined
  /** It names its offset itself, as pages after the first do: neither floor nor freshness applies (D-39). */
  readonly isWalk: boolean
  readonly beganAtMs: number
  /** The newest that the reader had seen when it was asked. */
  readonly floor: number
  readonly asked: Set<Source<Asked>>
  /** Nodes that replied, with an answer or a refusal. */
  readonly reached: Set<Source<Asked>>
  /** Why what it was answered last proves nothing. */
  unproven: string | null
  best: Told | null
  isBehind: boolean
  isGone: boolean
  /** The time that it may wait has passed. */
  isOverdue: boolean
}

export type ReaderState = World<Asked, Ended, Contradiction> & {
  readonly decisions: CertifiedDecisions
  /** 0 also where no others can be asked. */
  readonly faultyMax: number
  readonly calls: Map<number, Call>
  /** Those with lookups that are not read yet, in order. */
  readonly waiting: Set<Call>
  readonly reads: Set<Read>
  /** Offset of the newest certificate seen. */
  floor: number
  /** By offset. */
  readonly points: Map<number, CheckedCertificate>
  fork: Contradiction | null
  polledAtMs: number
  isLearning: boolean
}

export function createReaderState(
  seeds: readonly string[],
  faultyMax: number,
  decisions: CertifiedDecisions = CERTIFIED_DECISIONS,
): ReaderState {
  return {
    ...createWorld([...new Set(seeds)].map((url) => createSource(url, true))),
    decisions,
    faultyMax,
    calls: new Map(),
    waiting: new Set(),
    reads: new Set(),
    floor: 0,
    points: new Map(),
    fork: null,
    polledAtMs: Number.NEGATIVE_INFINITY,
    isLearning: true,
  }
}
