/** The numbers of a run, for the report and for a terminal: from the history alone. Pure. */
import { describeFault } from '../faults/fault-spec.ts'
import { percentile } from '../watch/prober.ts'
import type { ChaosFault, HistoryEvent, Verdict } from './history.ts'
import type { Scenario } from './schedule.ts'

export type Summary = {
  readonly verdict: Verdict
  readonly scenario: Scenario
  readonly lookups: {
    readonly decided: number
    readonly undecidedByCode: Readonly<Record<string, number>>
    readonly p50Ms: number | null
    readonly p99Ms: number | null
  }
  readonly writes: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** The line that everybody looks for. */
  readonly wrongAnswers: number
  readonly faults: readonly FaultSummary[]
  readonly healingMs: number | null
  /** Pairs of signed statements by which a node contradicts itself, as the scan proxy keeps them. */
  readonly evidence: readonly { readonly node: string; readonly pairs: number }[]
  readonly replicas: readonly {
    readonly node: string
    readonly offset: number | null
    readonly state: { readonly historyHash: string; readonly stateRoot: string } | null
  }[]
}

export type FaultSummary = {
  readonly fault: string
  readonly node: string
  readonly startMs: number
  readonly endMs: number
  /** From its begin to the node being seen as not up, or as saying something else; null if it never was. */
  readonly detectionMs: number | null
  /** From the end of the fault to the node being up. */
  readonly recoveryMs: number | null
  /** From there to the node being where the others are. */
  readonly catchUpMs: number | null
  readonly decided: number
  readonly undecided: number
  readonly p99Ms: number | null
}

export function summarize(
  history: readonly HistoryEvent[],
  known: { readonly verdict: Verdict; readonly scenario: Scenario },
): Summary {
  const lookups = history.filter((event) => event.kind === 'lookup')
  const decided = lookups.filter(({ outcome }) => outcome.kind === 'decided')
  const undecidedByCode: Record<string, number> = {}
  for (const { outcome } of lookups)
    if (outcome.kind === 'undecided')
      undecidedByCode[outcome.code] = (undecidedByCode[outcome.code] ?? 0) + 1
  const writes: Record<string, Record<string, number>> = {}
  for (const event of history) {
    if (event.kind !== 'write') continue
    const counts = writes[event.operation] ?? {}
    writes[event.operation] = { ...counts, [event.outcome]: (counts[event.outcome] ?? 0) + 1 }
  }
  const phaseAt = (phase: string) => {
    const event = history.find((one) => one.kind === 'phase' && one.phase === phase)
    return event?.kind === 'phase' ? event.atMs : null
  }
  const [healing, final] = [phaseAt('healing'), phaseAt('final')]
  const latencies = latenciesOf(decided)
  return {
    ...known,
    lookups: {
      decided: decided.length,
      undecidedByCode,
      p50Ms: percentile(latencies, 0.5),
      p99Ms: percentile(latencies, 0.99),
    },
    writes,
    wrongAnswers: known.verdict.findings.filter(({ rule }) => rule === 'answers are true').length,
    faults: history.flatMap((event) =>
      event.kind === 'fault' ? [faultSummary(event, lookups)] : [],
    ),
    healingMs: healing === null || final === null ? null : final - healing,
    evidence: history.flatMap((event) =>
      event.kind === 'evidence' ? [{ node: event.node, pairs: event.pairs }] : [],
    ),
    replicas: history.flatMap((event) =>
      event.kind === 'signed-state'
        ? [{ node: event.node, offset: event.offset, state: event.state }]
        : [],
    ),
  }
}

type Lookup = Extract<HistoryEvent, { kind: 'lookup' }>

function faultSummary(
  event: Extract<HistoryEvent, { kind: 'fault' }>,
  lookups: readonly Lookup[],
): FaultSummary {
  const during = lookups.filter(({ startMs }) => startMs >= event.startMs && startMs < event.endMs)
  const decided = during.filter(({ outcome }) => outcome.kind === 'decided')
  const { startMs, endMs, seenMs, healedMs, upMs } = event
  const dissent = decided.find(
    ({ outcome }) =>
      outcome.kind === 'decided' && outcome.dissented?.includes(event.fault.node) === true,
  )
  const noticed = [seenMs, dissent?.endMs].filter((ms) => typeof ms === 'number')
  return {
    fault: describeChaosFault(event.fault),
    node: event.fault.node,
    startMs,
    endMs,
    detectionMs: noticed.length === 0 ? null : Math.min(...noticed) - startMs,
    recoveryMs: upMs == null || healedMs === undefined ? null : upMs - healedMs,
    catchUpMs: upMs == null ? null : endMs - upMs,
    decided: decided.length,
    undecided: during.length - decided.length,
    p99Ms: percentile(latenciesOf(decided), 0.99),
  }
}

export function describeChaosFault(fault: ChaosFault): string {
  return fault.kind === 'wipe' ? 'wiped' : describeFault(fault)
}

function latenciesOf(lookups: readonly Lookup[]): number[] {
  return lookups.map(({ startMs, endMs }) => endMs - startMs).sort((left, right) => left - right)
}
