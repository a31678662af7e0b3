/**
 * What happened in a chaos run, as data: a line of JSON each. The checker reads nothing else but the log, so
 * other checkers can be written for it. Times are milliseconds since the run began, by a monotonic clock.
 */
import type { CertifiedEntry } from '@quorumscan/verifier/certified'
import { z } from 'zod'
import type { NodeSample } from '../watch/prober.ts'
import type { ChaosFault } from './schedule.ts'

export type Subject = { readonly name: string } | { readonly party: string }

type Timed = { readonly client: string; readonly startMs: number; readonly endMs: number }

/** What a client knows of a write: it took effect, it certainly did not, or nobody knows. */
export type WriteOutcome = 'acknowledged' | 'refused' | 'unknown'

/**
 * How an answer is come by: through the scan proxy by votes or by signatures, or from the nodes themselves with
 * a proof. What ends in `strong` needs a quorum, the others f + 1.
 */
export type ReadKind =
  | 'weak'
  | 'strong'
  | 'certified'
  | 'certified-strong'
  | 'proof'
  | 'proof-strong'

/** The client that reads everything once more when all is healed, as fast as it can. */
export const FINAL_READER = 'final reader'

/** How an attempt to look something up ended: each cause for itself. */
export type ReadOutcome =
  | {
      readonly kind: 'answered'
      readonly offset: number
      readonly entry: CertifiedEntry | null
      /** Nodes that were heard in time and said something else (D-40). */
      readonly dissented: readonly string[]
    }
  /** By the proxy, or by a reader of proofs that no node gave one: says nothing about the name. */
  | { readonly kind: 'refused'; readonly code: string }
  /** Nobody took the connection (`refused`), or it ended before an answer (`reset`). */
  | { readonly kind: 'no-connection'; readonly code: string }
  | { readonly kind: 'timed-out' }

export type HistoryEvent =
  | {
      readonly kind: 'run'
      readonly seed: string
      readonly nodes: number
      readonly budget: 'f' | 'beyond-f'
      readonly durationMs: number
      /** Whether the verdict may rest on rules that nothing put to the test. */
      readonly allowsUnexercised: boolean
    }
  | (Timed & {
      readonly kind: 'lookup'
      readonly subject: Subject
      readonly read: ReadKind
      readonly outcome: ReadOutcome
    })
  /** What each node says by itself, beside an answer that enough of them agreed on. */
  | {
      readonly kind: 'probe'
      readonly startMs: number
      readonly endMs: number
      readonly node: string
      readonly vote: NodeSample['vote']
      /** What it signed of the state of the ledger does not fit, so: as a person is told. */
      readonly signedProblem: string | null
      /** The end of the log, as the node tells it. */
      readonly head: number | null
    }
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
      /** When the schedule has it, from the beginning of the chaos. */
      readonly plannedMs: number
      readonly startMs: number
      /** Why it was not done, e.g. because this machine cannot; null: it was. */
      readonly refused: string | null
      /** When the control plane first saw that the node is not up, or lacks something; null if it never did. */
      readonly seenMs: number | null
      /** When the fault was ended. */
      readonly healedMs: number
      /** When the node was up again, be it behind the others. */
      readonly upMs: number | null
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
  | {
      readonly kind: 'phase'
      readonly atMs: number
      readonly phase: 'chaos' | 'healing' | 'final' | 'end'
    }
  | {
      readonly kind: 'signed-state'
      readonly node: string
      /** The newest at which the most nodes signed something; null: none did. */
      readonly offset: number | null
      /** What the node signed there, if it did. */
      readonly state: { readonly historyHash: string; readonly stateRoot: string } | null
    }
  | { readonly kind: 'trouble'; readonly atMs: number; readonly sentence: string }

export type EventOf<Kind extends HistoryEvent['kind']> = Extract<
  HistoryEvent,
  { readonly kind: Kind }
>

/** One position of the log as it is written beside the history. */
export type LogLine = {
  readonly offset: number
  readonly recordTime: number
  readonly bytes: string
}

/** The outcome of a run in a sentence for a person, with the rules that it rests on. */
export const verdict = z.object({
  verdict: z.enum(['valid', 'invalid', 'inconclusive']),
  sentence: z.string(),
  rules: z.array(
    z.object({
      rule: z.string(),
      samples: z.int().min(0).describe('How often it was put to the test; 0: not exercised.'),
      findings: z.array(z.string()).describe('What must not be.'),
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

/** Samples held against a rule. @param problemOf - What is wrong with a sample; null: nothing. */
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
