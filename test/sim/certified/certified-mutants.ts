/** The certified reader with one mistake. The checkers must detect each. */
import type { Mutation } from '@quorumscan/verifier/testing'
import type { CertifiedViolation } from './certified-check.ts'
import type { CertifiedRunOptions } from './certified-record.ts'

/** Options limit the run to lies and faults that reveal the mistake early. */
export type CertifiedMutant = Pick<
  CertifiedRunOptions,
  'mode' | 'nodeCount' | 'lies' | 'faults'
> & {
  readonly mutation: Mutation
  readonly rule: CertifiedViolation['rule']
}

const FRESHNESS = 'packages/verifier/src/certified/freshness.ts'
const DECIDER = 'packages/reader/src/certified/certified-decider.ts'
const PROVEN_TIME = 'packages/reader/src/driver/proven-time.ts'
const CREDIBILITY = 'packages/reader/src/certified/credibility.ts'

export const CERTIFIED_MUTANTS: readonly CertifiedMutant[] = [
  {
    mutation: {
      mistake: 'accepting an answer older than an earlier one',
      file: FRESHNESS,
      text: 'return !(offset >= offsetMin)',
      by: 'return false',
    },
    lies: ['old'],
    rule: 'monotonic-reads',
  },
  {
    mutation: {
      mistake: 'no maxAge',
      file: FRESHNESS,
      text: 'return !(nowMicros - recordTime <= maxAgeMs * 1000)',
      by: 'return false',
    },
    lies: ['older'],
    rule: 'freshness',
  },
  {
    mutation: {
      mistake: 'accepting any number of signers',
      file: DECIDER,
      text: 'if (point.signers.length < (read?.wanted.threshold ?? faultyMax + 1)) {',
      by: 'if (false) {',
    },
    lies: ['tooFew'],
    rule: 'signers',
  },
  {
    mutation: {
      mistake: 'accepting an old answer of a single node',
      file: CREDIBILITY,
      text: 'consulted(state, read, false).size > faultyMax',
      by: 'consulted(state, read, false).size > 0',
    },
    nodeCount: 4,
    lies: ['freeze'],
    faults: [],
    rule: 'withheld',
  },
  {
    mutation: {
      mistake: 'not suspecting old answers',
      file: CREDIBILITY,
      text: 'const SUSPICIOUS_AGE_MS = 12_000',
      by: 'const SUSPICIOUS_AGE_MS = Infinity',
    },
    nodeCount: 4,
    lies: ['freeze'],
    faults: [],
    rule: 'withheld',
  },
  {
    mutation: {
      mistake: 'believing in a clock that is proven to be behind',
      file: PROVEN_TIME,
      text: 'aheadMicros > AHEAD_MICROS_MAX ?',
      by: 'false ?',
    },
    mode: 'wrong-clocks',
    nodeCount: 4,
    lies: ['freeze'],
    faults: [],
    rule: 'withheld',
  },
  {
    mutation: {
      mistake: 'sending a second request only after the first has failed',
      file: DECIDER,
      text: ': hedgeMs(source))',
      by: ': 5000)',
    },
    lies: ['hang'],
    faults: [],
    rule: 'availability',
  },
  {
    mutation: {
      mistake: 'not checking for contradictions',
      file: DECIDER,
      text: 'if (state.fork !== null || !areConflicting(known, point)) continue',
      by: 'continue',
    },
    mode: 'beyond-f',
    lies: ['invent'],
    rule: 'fork',
  },
]
