/** The certified reader with one broken decision. The checkers must detect each. */
import { CERTIFIED_DECISIONS, type CertifiedDecisions } from '@quorumscan/reader/certified'
import type { CertifiedViolation } from './certified-check.ts'
import type { CertifiedRunOptions } from './certified-run.ts'

/** Options limit the run to lies and faults that reveal the mistake early. */
export type CertifiedMutant = Pick<
  CertifiedRunOptions,
  'mode' | 'nodeCount' | 'lies' | 'faults'
> & {
  readonly mistake: string
  readonly decisions: CertifiedDecisions
  readonly rule: CertifiedViolation['rule']
}

export const CERTIFIED_MUTANTS: readonly CertifiedMutant[] = [
  {
    mistake: 'accepting an answer older than an earlier one',
    lies: ['old'],
    rule: 'monotonic-reads',
    decisions: { ...CERTIFIED_DECISIONS, isBelowOffset: () => false },
  },
  {
    mistake: 'no maxAge',
    lies: ['older'],
    rule: 'freshness',
    decisions: { ...CERTIFIED_DECISIONS, isStale: () => false },
  },
  {
    mistake: 'accepting any number of signers',
    lies: ['tooFew'],
    rule: 'signers',
    decisions: { ...CERTIFIED_DECISIONS, hasSigners: () => true },
  },
  {
    mistake: 'accepting an old answer of a single node',
    nodeCount: 4,
    lies: ['freeze'],
    faults: [],
    rule: 'withheld',
    decisions: { ...CERTIFIED_DECISIONS, consultedMin: () => 1 },
  },
  {
    mistake: 'not suspecting old answers',
    nodeCount: 4,
    lies: ['freeze'],
    faults: [],
    rule: 'withheld',
    decisions: { ...CERTIFIED_DECISIONS, isSuspicious: () => false },
  },
  {
    mistake: 'sending a second request only after the first has failed',
    lies: ['hang'],
    faults: [],
    rule: 'availability',
    decisions: { ...CERTIFIED_DECISIONS, hedgeMs: () => 5000 },
  },
  {
    mistake: 'not checking for contradictions',
    mode: 'beyond-f',
    lies: ['invent'],
    rule: 'fork',
    decisions: { ...CERTIFIED_DECISIONS, contradicts: () => false },
  },
]
