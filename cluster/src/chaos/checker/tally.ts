/** What all rules have in common: events of one kind, each held against the rule. */
import type { EventOf, HistoryEvent, RuleTally } from '../history.ts'

export function eventsOf<Kind extends HistoryEvent['kind']>(
  history: readonly HistoryEvent[],
  kind: Kind,
): EventOf<Kind>[] {
  return history.filter((event): event is EventOf<Kind> => event.kind === kind)
}

/** @param problemOf - What is wrong with a sample; null: nothing. */
export function tally<T>(
  rule: string,
  samples: readonly T[],
  problemOf: (sample: T) => string | null,
): RuleTally {
  const findings = samples.flatMap((sample) => problemOf(sample) ?? [])
  return { rule, samples: samples.length, findings }
}
