/** Several lookups as one answer (D-14). Pure. */
import { concatBytes, utf8 } from '@quorumscan/base'
import { type Decided, isDecided, type Lookup, type Outcome } from '@quorumscan/consensus'

/** The longest text that is looked up as a name; longer ones are refused where they come alone. */
const NAME_LENGTH_MAX = 255
const WELL_FORMED = /^\P{Cs}*$/u

/**
 * The lookup that a node would take it for: with both members it is one by name (D-14), unless what
 * stands there is no name; then that is an unknown member like any other (D-7).
 */
export function normalLookup(lookup: Lookup): Lookup {
  if (!('name' in lookup)) return { party: lookup.party }
  // Validation checked one of the members; the other one can be anything.
  const name: unknown = lookup.name
  const isName =
    typeof name === 'string' && name.length <= NAME_LENGTH_MAX && WELL_FORMED.test(name)
  if (isName) return { name }
  return 'party' in lookup ? { party: String(lookup.party) } : lookup
}

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
