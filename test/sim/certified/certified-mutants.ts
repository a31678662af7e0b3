/** The reader of certified answers with one decision broken: the checkers have to notice each. */
import { CERTIFIED_DECISIONS, type CertifiedDecisions } from '@quorumscan/reader/certified'
import type { CertifiedViolation } from './certified-check.ts'
import type { CertifiedRunOptions } from './certified-run.ts'

/** What the run is limited to is what shows the mistake soonest. */
export type CertifiedMutant = Pick<
  CertifiedRunOptions,
  'mode' | 'nodeCount' | 'lies' | 'troubles'
> & {
  readonly mistake: string
  readonly decisions: CertifiedDecisions
  readonly rule: CertifiedViolation['rule']
}

export const CERTIFIED_MUTANTS: readonly CertifiedMutant[] = [
  {
    mistake: 'accepting an answer older than one that was seen',
    lies: ['old'],
    rule: 'monotony',
    decisions: { ...CERTIFIED_DECISIONS, isBelowOffset: () => false },
  },
  {
    mistake: 'no maxAge',
    lies: ['older'],
    rule: 'freshness',
    decisions: { ...CERTIFIED_DECISIONS, isStale: () => false },
  },
  {
    mistake: 'as few signers as any reader takes',
    lies: ['tooFew'],
    rule: 'support',
    decisions: { ...CERTIFIED_DECISIONS, hasSigners: () => true },
  },
  {
    mistake: 'believing old answers of one node',
    nodeCount: 4,
    lies: ['freeze'],
    troubles: [],
    rule: 'held',
    decisions: { ...CERTIFIED_DECISIONS, consultedMin: () => 1 },
  },
  {
    mistake: 'suspecting nothing',
    nodeCount: 4,
    lies: ['freeze'],
    troubles: [],
    rule: 'held',
    decisions: { ...CERTIFIED_DECISIONS, isSuspicious: () => false },
  },
  {
    mistake: 'asking a second node only when the first is lost',
    lies: ['hang'],
    troubles: [],
    rule: 'availability',
    decisions: { ...CERTIFIED_DECISIONS, hedgeMs: () => 5000 },
  },
  {
    mistake: 'not looking for contradictions',
    mode: 'beyond-f',
    lies: ['invent'],
    rule: 'fork',
    decisions: { ...CERTIFIED_DECISIONS, contradicts: () => false },
  },
]
