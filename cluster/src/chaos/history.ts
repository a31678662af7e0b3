/**
 * What happened in a chaos run, as data: a line of JSON each. The checker reads nothing else but the log, so
 * other checkers can be written for it. Times are milliseconds since the run began, by a monotonic clock.
 */
import type { FaultSpec } from '../faults/fault-spec.ts'

/** An entry on the wire (D-8); null is absence. */
export type SeenEntry = {
  readonly contract_id: string | null
  readonly user: string
  readonly name: string
  readonly url: string
  readonly description: string
  readonly expires_at: string | null
}

export type Subject = { readonly name: string } | { readonly party: string }

type Timed = { readonly client: string; readonly startMs: number; readonly endMs: number }

/** What a client knows of a write: it took effect, it certainly did not, or nobody knows. */
export type WriteOutcome = 'acknowledged' | 'refused' | 'unknown'

/** A fault, or the deletion of a replica, which is over at once. */
export type ChaosFault = FaultSpec | { readonly kind: 'wipe'; readonly node: string }

export type HistoryEvent =
  | {
      readonly kind: 'run'
      readonly seed: string
      readonly nodes: number
      readonly budget: 'f' | 'beyond-f'
      readonly durationMs: number
    }
  | (Timed & {
      readonly kind: 'lookup'
      readonly subject: Subject
      readonly quorum: 'weak' | 'strong'
      /** Undecided outcomes say nothing about the name. */
      readonly outcome:
        | {
            readonly kind: 'decided'
            readonly offset: number
            readonly entry: SeenEntry | null
            /** Nodes that were heard in time and said something else (D-40). */
            readonly dissented?: readonly string[]
          }
        | { readonly kind: 'undecided'; readonly code: string }
    })
  | (Timed & {
      readonly kind: 'write'
      readonly operation: 'accept' | 'transfer' | 'accept-transfer' | 'renew'
      readonly outcome: WriteOutcome
      readonly code: string | null
      /** The contract that exists from then on (`accept-transfer`: ends), if it was acknowledged. */
      readonly contractId: string | null
      /** Of what the write is about: a subscription request, a tracking id, an offer, a subscription. */
      readonly reference: string
    })
  | (Timed & {
      readonly kind: 'stream'
      readonly party: string
      readonly beginExclusive: number
      /** The last offset that the stream has told all about. */
      readonly throughOffset: number
      readonly updates: readonly { readonly offset: number; readonly updateId: string }[]
    })
  | {
      readonly kind: 'fault'
      readonly startMs: number
      /** When the control plane first saw that the node is not up; null if it always was. */
      readonly seenMs?: number | null
      /** When the fault was ended. */
      readonly healedMs?: number
      /** When the node was up again, be it behind the others. */
      readonly upMs?: number | null
      /** When the node had recovered, and was where the others are. */
      readonly endMs: number
      readonly fault: ChaosFault
    }
  | {
      readonly kind: 'evidence'
      readonly node: string
      /** Pairs of signed statements by which the node contradicts itself (D-43), as the proxy keeps them. */
      readonly pairs: number
    }
  | { readonly kind: 'phase'; readonly atMs: number; readonly phase: 'healing' | 'final' | 'end' }
  | {
      readonly kind: 'signed-state'
      readonly node: string
      /** The newest at which the most nodes signed something; null: none did. */
      readonly offset: number | null
      /** What the node signed there, if it did. */
      readonly state: { readonly historyHash: string; readonly stateRoot: string } | null
    }
  | { readonly kind: 'trouble'; readonly atMs: number; readonly sentence: string }

/** One position of the log as it is written beside the history. */
export type LogLine = {
  readonly offset: number
  readonly recordTime: number
  readonly bytes: string
}

export type Verdict = {
  readonly verdict: 'valid' | 'invalid' | 'unknown'
  /** Why, for a person. */
  readonly sentence: string
  readonly findings: readonly Finding[]
}

/** Something that must not be. */
export type Finding = { readonly rule: string; readonly sentence: string }

export function toJsonLines(items: readonly unknown[]): string {
  return items.map((item) => `${JSON.stringify(item)}\n`).join('')
}
