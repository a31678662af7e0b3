/** Several lookups as one answer (D-14). Pure. */
import { concatBytes, utf8 } from '@quorumscan/base'
import { type Decided, isDecided, type Outcome } from '@quorumscan/reader'

/**
 * What stands behind the whole batch: the first lookup that failed, or the decision of all, with the
 * nodes that agreed on every lookup. Undefined if the lookups were decided at different offsets.
 */
export function batchOutcome(outcomes: readonly [Outcome, ...Outcome[]]): Outcome | undefined {
  const decided: Decided[] = []
  for (const outcome of outcomes) {
    if (!isDecided(outcome)) return outcome
    decided.push(outcome)
  }
  const [first] = outcomes
  if (!isDecided(first) || decided.some((one) => one.offset !== first.offset)) return undefined
  return {
    ...first,
    kind: first.kind === 'verified' || first.kind === 'verified-absent' ? 'verified' : 'trusted',
    agreed: first.agreed.filter((node) => decided.every((one) => one.agreed.includes(node))),
    dissented: [...new Set(decided.flatMap((one) => one.dissented))],
    answered: Math.min(...decided.map((one) => one.answered)),
  }
}

/** `{"results":[…]}` of the answers, byte for byte as the nodes gave them. */
export function batchBody(outcomes: readonly Outcome[]): Uint8Array {
  const parts: Uint8Array[] = []
  for (const outcome of outcomes) {
    if (!isDecided(outcome)) continue
    if (parts.length > 0) parts.push(utf8(','))
    parts.push(outcome.answer)
  }
  return concatBytes([utf8('{"results":['), ...parts, utf8(']}')])
}
