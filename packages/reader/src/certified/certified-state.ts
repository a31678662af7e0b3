/** The state of the certified reader, and the events that `certified-decider.ts` applies to it. */
import { bytesEqual, type Lookup } from '@quorumscan/verifier'
import type { CheckedCertificate, StateQuery } from '@quorumscan/verifier/certified'
import {
  type ByRead,
  createDeciderContext,
  type DeciderContext,
  type Event,
} from '../driver/decider-protocol.ts'
import type { Bounds } from '../reader-base.ts'
import { createSource, type Flight, type Source } from '../source/source.ts'
import type { Lagging } from '../votes/read-outcome.ts'
import type { CertifiedQuery } from './node-request.ts'

/** What a caller asks for: lookups, or another query. */
export type CallInput = Bounds & {
  readonly lookups: readonly Lookup[]
  /** Lookups with equal keys may share a request; null: these share none. */
  readonly key: string | null
  /** Undefined: the lookups. */
  readonly query?: CertifiedQuery<unknown>
  readonly stateQuery?: StateQuery<unknown>
}

/** One call of a caller. Calls with lookups may share one read. */
export type Call = { readonly id: number; readonly input: CallInput; read: Read | null }

/** Two certificates that enough members signed, of which no ledger can have had both states. */
export type ConflictingCertificates = readonly [CheckedCertificate, CheckedCertificate]

/** A proven answer. The decider does not look into `answer`. */
export type CheckedAnswer = { readonly point: CheckedCertificate; readonly answer: unknown }

/** What the reply of a node amounts to. */
export type CertifiedReply =
  /** A certificate, and the answer that was asked for, if any. */
  | ({ readonly kind: 'proven' } & CheckedAnswer)
  /**
   * `not-reached`: has no such certificate yet. `pruned`: has it no longer. `limit`: the node limits the
   * requests of this reader.
   */
  | {
      readonly kind: 'not-reached' | 'pruned' | 'limit' | 'unable'
      readonly reason: string
      readonly retryAfterMs: number | null
    }
  /** No honest node sends this. */
  | { readonly kind: 'lied'; readonly reason: string }

export type Ending =
  | ({ readonly kind: 'answered' } & CheckedAnswer)
  | { readonly kind: 'disputed'; readonly points: ConflictingCertificates }
  | {
      readonly kind: 'insufficient'
      readonly retryAfterMs: number | null
      readonly unproven: string | null
    }
  | (Pick<Lagging, 'wantedOffset' | 'headOffset' | 'ageMs'> & {
      readonly kind: 'lagging'
      readonly reason: Lagging['reason'] | 'pruned'
    })

/** How a call ended. */
export type CallOutcome = {
  readonly ending: Ending
  readonly read: Pick<Read, 'query' | 'reached'>
  /** Index of the call's first lookup among those of the read. */
  readonly first: number
  /** Of the state when the call ended. */
  readonly clockSkewMs: number | null
}

export type ReaderEvent =
  | Event<RequestInFlight, CertifiedReply, CallInput>
  /** A node has signed this address. */
  | { readonly kind: 'located'; readonly name: string; readonly url: string }
  /** `isOver`: all sources of addresses have answered or failed; else they are being asked. */
  | { readonly kind: 'learning'; readonly isOver: boolean }

/** A request to a node. */
export interface RequestInFlight extends Flight<RequestInFlight> {
  /** null: it asks for the newest certificate only. */
  readonly read: Read | null
  readonly minOffset: number
  /** When the node was first asked for this read. */
  readonly beganAtMs: number
  /** Another node is asked too. */
  isLate: boolean
  /** The node counts as consulted. */
  isSilent: boolean
}

/** A read for one call, or for several together. */
export type Read = {
  /** The input of the first call. Its bounds hold for all calls of the read. */
  readonly wanted: CallInput
  readonly calls: readonly Call[]
  readonly query: CertifiedQuery<unknown>
  /** Made of the query once it is asked. */
  stateQuery: StateQuery<unknown> | undefined
  /** The query names its offset itself, as pages after the first do: neither floor nor freshness applies (D-39). */
  readonly isPageWalk: boolean
  readonly beganAtMs: number
  /** The newest offset that the reader had seen when the read began. */
  readonly floor: number
  readonly asked: Set<Source<RequestInFlight>>
  /** Nodes that replied, with an answer or a refusal. */
  readonly reached: Set<Source<RequestInFlight>>
  /** Why the newest refused reply proves nothing. */
  unproven: string | null
  best: CheckedAnswer | null
  sawLaggingNode: boolean
  sawPruned: boolean
  /** The read has waited as long as it may. */
  isOverdue: boolean
}

export type ReaderState = DeciderContext<RequestInFlight, CallOutcome, ConflictingCertificates> & {
  /** 0 also if no other nodes can be asked. */
  readonly faultyMax: number
  readonly calls: ByRead<Call>
  /** Calls with lookups that no read asks for yet, in order. */
  waiting: Call[]
  reads: Read[]
  /** Offset of the newest certificate seen. */
  floor: number
  /** Certificates by offset. */
  readonly points: Map<number, CheckedCertificate>
  fork: ConflictingCertificates | null
  polledAtMs: number
  /** Whether addresses may still come. */
  isLearning: boolean
  /** Whether nodes are asked that have not signed their address. */
  asksSeeds: boolean
}

export function createReaderState(seeds: readonly string[], faultyMax: number): ReaderState {
  return {
    ...createDeciderContext([...new Set(seeds)].map((url) => createSource(url, true))),
    faultyMax,
    calls: {},
    waiting: [],
    reads: [],
    floor: 0,
    points: new Map(),
    fork: null,
    polledAtMs: Number.NEGATIVE_INFINITY,
    isLearning: true,
    asksSeeds: true,
  }
}

/** Whether no ledger can have had both states: they differ at one offset, or offset and time disagree on the order. */
export function areConflicting(a: CheckedCertificate, b: CheckedCertificate): boolean {
  if (a.offset !== b.offset) return (a.offset - b.offset) * (a.recordTime - b.recordTime) < 0
  const isSame = a.historyHash === b.historyHash && a.recordTime === b.recordTime
  return !isSame || !bytesEqual(a.root, b.root)
}
