/** What a reader of certified answers decides by, as one record, so that tests can break one of them. */

import { bytesEqual } from '@quorumscan/verifier'
import type { CheckedCertificate } from '@quorumscan/verifier/certified'
import { isBehind, isStale } from '@quorumscan/verifier/certified'
import type { Known } from '../source/source.ts'

/** Checkpoints are at most ten seconds apart: what is older is held back, or the network stands still. */
const SUSPICIOUS_AGE_MS = 12_000
/** Another node is asked too where one takes so many times what it usually takes, */
export const HEDGE_FACTOR = 3
/** within these bounds: below, a pause of either process would double the load; above, an answer may be lost. */
const HEDGE_MS_MIN = 50
const HEDGE_MS_MAX = 2500

export const CERTIFIED_DECISIONS = {
  /** Distinct nodes to be heard before an answer is believed that is suspiciously old: one of them is honest. */
  heardMin: (faultyMax: number): number => faultyMax + 1,
  isSuspicious: (ageMs: number): boolean => ageMs > SUSPICIOUS_AGE_MS,
  isStale,
  isBehind,
  hasSigners: (signerCount: number, needed: number): boolean => signerCount >= needed,
  /** Whether no ledger can have been in both states: another one at the same offset, or an earlier one later. */
  contradicts(a: CheckedCertificate, b: CheckedCertificate): boolean {
    if (a.offset !== b.offset) return (a.offset - b.offset) * (a.recordTime - b.recordTime) < 0
    const isSame = a.historyHash === b.historyHash && a.recordTime === b.recordTime
    return !isSame || !bytesEqual(a.root, b.root)
  },
  /** Only who signed its address is a node of its own: two addresses may be one server. */
  identityOf: ({ name }: Known): string | null => name,
  hedgeMs: (usualMs: number): number =>
    Math.min(Math.max(HEDGE_FACTOR * usualMs, HEDGE_MS_MIN), HEDGE_MS_MAX),
}
export type CertifiedDecisions = typeof CERTIFIED_DECISIONS
