/**
 * The events of a chaos run as data, a line of JSON each. The checker reads only them and the log, so that other checkers
 * can be written. Times are milliseconds since the run began, by a monotonic clock.
 */
import type { CertifiedEntry } from '@quorumscan/verifier/certified'
import { z } from 'zod'
import type { NodeSample } from '../watch/prober.ts'
import type { ChaosFault } from './schedule.ts'

export type Subject = { readonly name: string } | { readonly party: string }

type Timed = { readonly client: string; readonly startMs: number; readonly endMs: number }

/** The outcome of a write for its client: it took effect, it had no effect, or either. */
export type WriteOutcome = 'acknowledged' | 'refused' | 'unknown'

/**
 * The way of a read: through the scan proxy by votes or by signatures, or at the nodes with a proof. Kinds that end in
 * `strong` need a quorum, the others f + 1.
 */
export type ReadKind =
  | 'weak'
  | 'strong'
  | 'certified'
  | 'certified-strong'
  | 'proof'
  | 'proof-strong'

/** The client that reads all names again after healing, as fast as it can. */
export const FINAL_READER = 'final reader'

/** The outcome of a lookup, by cause. */
export type ReadOutcome =
  | {
      readonly kind: 'answered'
      readonly offset: number
      readonly entry: CertifiedEntry | null
      /** Nodes that answered in time, with a different answer (D-40). */
      readonly dissented: readonly string[]
    }
  /** The proxy refused, or a reader of proofs received no proof. It is not a statement about the name. */
  | { readonly kind: 'refused'; readonly code: string }
  /** The connection was not accepted (`refused`), or closed before an answer (`reset`). */
  | { readonly kind: 'no-connection'; readonly code: string }
  | { readonly kind: 'timed-out' }

export type HistoryEvent =
  | {
      readonly kind: 'run'
      readonly seed: string
      readonly nodes: number
      readonly budget: 'f' | 'beyond-f'
      readonly durationMs: number
      /** Whether a verdict is allowed without rules that the run never tested. */
      readonly allowsUnexercised: boolean
    }
  | (Timed & {
      readonly kind: 'lookup'
      readonly subject: Subject
      readonly read: ReadKind
      readonly outcome: ReadOutcome
    })
  /** The answer of each node to a lookup on whose answer enough nodes agreed. */
  | {
      readonly kind: 'probe'
      readonly startMs: number
      readonly endMs: number
      readonly node: string
      readonly vote: NodeSample['vote']
      /** What is wrong with its signed statements, as a sentence. */
      readonly signedProblem: string | null
      /** The end of the log, as the node reports it. */
      readonly head: number | null
    }
  | (Timed & {
      readonly kind: 'write'
      readonly operation: 'accept' | 'transfer' | 'accept-transfer' | 'renew'
      readonly outcome: WriteOutcome
      readonly code: string | null
      /** The contract that an acknowledged write created (`accept-transfer`: archived). */
      readonly contractId: string | null
      /** The subject of the write: a subscription request, a tracking id, an offer, a subscription. */
      readonly reference: string
    })
  | (Timed & {
      readonly kind: 'stream'
      readonly party: string
      readonly beginExclusive: number
      /** The last offset that the stream has covered. */
      readonly throughOffset: number
      readonly updates: readonly { readonly offset: number; readonly updateId: string }[]
    })
  | {
      readonly kind: 'fault'
      /** Its time in the schedule. */
      readonly plannedMs: number
      readonly startMs: number
      /** Why it was not injected, e.g. because this machine cannot; null: it was. */
      readonly refused: string | null
      /** When the control plane first saw that the node was not up, or lacked something; null if it never did. */
      readonly seenMs: number | null
      readonly healedMs: number
      /** When the node was up again, even if it lagged. */
      readonly upMs: number | null
      /** When the node had recovered, and had caught up. */
      readonly endMs: number
      readonly fault: ChaosFault
    }
  | {
      readonly kind: 'evidence'
      readonly node: string
      /** Pairs of conflicting signed statements (D-43), as the proxy stores them. */
      readonly pairs: number
    }
  | {
      readonly kind: 'phase'
      readonly atMs: number
      readonly phase: 'chaos' | 'healing' | 'final' | 'end'
    }
  | {
      readonly kind: 'signed-state'
      readonly node: string
      /** The newest offset at which the most nodes signed a state; null: no node did. */
      readonly offset: number | null
      /** The state that the node signed there; null without one. */
      readonly state: { readonly historyHash: string; readonly stateRoot: string } | null
    }
  /** A problem of the run itself, which makes it inconclusive. */
  | { readonly kind: 'trouble'; readonly atMs: number; readonly sentence: string }

export type EventOf<Kind extends HistoryEvent['kind']> = Extract<
  HistoryEvent,
  { readonly kind: Kind }
>

/** One entry of the log, in a file next to the history. */
export type LogLine = {
  readonly offset: number
  readonly recordTime: number
  readonly bytes: string
}

/** The outcome of a run as a sentence, with the rules that led to it. */
export const verdict = z.object({
  verdict: z.enum(['valid', 'invalid', 'inconclusive']),
  sentence: z.string(),
  rules: z.array(
    z.object({
      rule: z.string(),
      samples: z.int().min(0).describe('How often it was tested; 0: not exercised.'),
      findings: z.array(z.string()).describe('Violations.'),
    }),
  ),
})
export type Verdict = z.output<typeof verdict>
export type RuleTally = Verdict['rules'][number]

export function eventsOf<Kind extends HistoryEvent['kind']>(
  history: readonly HistoryEvent[],
  kind: Kind,
): EventOf<Kind>[] {
  return history.filter((event): event is EventOf<Kind> => event.kind === kind)
}

/** Tests samples by a rule. @param problemOf - What is wrong with a sample; null: nothing. */
export function tally<T>(
  rule: string,
  samples: readonly T[],
  problemOf: (sample: T) => string | null,
): RuleTally {
  const findings = samples.flatMap((sample) => problemOf(sample) ?? [])
  return { rule, samples: samples.length, findings }
}

export function toJsonLines(items: readonly unknown[]): string {
  return items.map((item) => `${JSON.stringify(item)}\n`).join('')
}
