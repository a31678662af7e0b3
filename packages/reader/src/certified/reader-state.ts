/** What a reader of certified answers knows, what it is told, and what it does: the words of `policy.ts`. */
import type { CheckedCertificate } from '@quorumscan/verifier/certified'
import { CERTIFIED_DECISIONS, type CertifiedDecisions } from './certified-decisions.ts'
import { createSource, type Source } from './sources.ts'

export type Wanted = {
  readonly signerCount: number
  readonly minOffset: number
  readonly maxAgeMs: number
  /** How long there is for it. */
  readonly waitMs: number
  /** It names its offset itself, as pages after the first do: neither floor nor freshness applies (D-39). */
  readonly isWalk: boolean
}

/** Enough members signed each of them, and no ledger was in both states. */
export type Contradiction = readonly [CheckedCertificate, CheckedCertificate]

/** A proven answer; what it says is the driver's. */
export type Told = { readonly point: CheckedCertificate; readonly answer: unknown }

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

export type ReaderEvent =
  | { readonly kind: 'asked'; readonly read: number; readonly wanted: Wanted }
  /** Its callers left. */
  | { readonly kind: 'left'; readonly read: number }
  /** A node signed that it is there. */
  | { readonly kind: 'located'; readonly name: string; readonly url: string }
  /** All that could tell addresses was asked, or is asked anew. */
  | { readonly kind: 'learning'; readonly isOver: boolean }
  /** What an earlier run of the reader had seen. */
  | { readonly kind: 'remembered'; readonly offset: number }
  /** A request ended: with a certificate, and the answer that was asked for, if any. */
  | ({ readonly kind: 'told'; readonly flight: number } & Told)
  | {
      readonly kind: 'refused'
      readonly flight: number
      readonly reason: string
      /** `behind`: has no such certificate yet. `gone`: not any more. `limit`: we ask too much. */
      readonly why: 'behind' | 'gone' | 'limit' | 'unable'
      readonly retryAfterMs: number | null
    }
  /** No answer, or none that proves anything. */
  | { readonly kind: 'failed'; readonly flight: number; readonly reason: string }
  | { readonly kind: 'lied'; readonly flight: number; readonly reason: string }
  | { readonly kind: 'tick' }

/** What a node answered. */
export type Landed = Extract<ReaderEvent, { readonly kind: 'told' | 'refused' | 'lied' }>

export type Effect =
  /** `read` null: for its newest certificate. */
  | {
      readonly kind: 'send'
      readonly flight: number
      readonly source: Source
      readonly read: number | null
      readonly minOffset: number
    }
  | { readonly kind: 'cancel'; readonly flight: number }
  | {
      readonly kind: 'ended'
      readonly read: number
      readonly ending: Ending
      readonly reachedCount: number
    }
  | { readonly kind: 'forked'; readonly points: Contradiction }

export type Flight = {
  readonly source: Source
  readonly read: Read | null
  readonly minOffset: number
  readonly sentAtMs: number
  /** From then on another node is asked too. */
  readonly lateAtMs: number
  isLate: boolean
  /** When the node was first asked for this read. */
  readonly beganAtMs: number
}

export type Read = Wanted & {
  readonly id: number
  readonly beganAtMs: number
  readonly endsAtMs: number
  /** The newest that the reader had seen when it was asked. */
  readonly floor: number
  readonly asked: Set<Source>
  reachedCount: number
  /** Why what it was answered last proves nothing. */
  unproven: string | null
  best: Told | null
  isBehind: boolean
  isGone: boolean
}

export type ReaderState = {
  readonly decisions: CertifiedDecisions
  /** 0 also where no others can be asked. */
  readonly faultyMax: number
  readonly sources: Source[]
  readonly reads: Map<number, Read>
  readonly flights: Map<number, Flight>
  flightCount: number
  /** Offset of the newest certificate seen. */
  floor: number
  /** By offset. */
  readonly points: Map<number, CheckedCertificate>
  fork: Contradiction | null
  polledAtMs: number
  isLearning: boolean
}

/** By the clock of whoever drives it: monotonic, and the wall. */
export type Now = { readonly ms: number; readonly micros: number }

export function createReaderState(options: {
  readonly faultyMax: number
  readonly seeds: readonly string[]
  readonly decisions?: CertifiedDecisions | undefined
}): ReaderState {
  return {
    decisions: options.decisions ?? CERTIFIED_DECISIONS,
    faultyMax: options.faultyMax,
    sources: [...new Set(options.seeds)].map((url) => createSource(url, true)),
    reads: new Map(),
    flights: new Map(),
    flightCount: 0,
    floor: 0,
    points: new Map(),
    fork: null,
    polledAtMs: Number.NEGATIVE_INFINITY,
    isLearning: true,
  }
}
