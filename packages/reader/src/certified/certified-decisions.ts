/** The decisions of the certified reader as one record, so that tests can break one of them. */

import { bytesEqual } from '@quorumscan/verifier'
import { type CheckedCertificate, isBelowOffset, isStale } from '@quorumscan/verifier/certified'
import type { NodeObservations } from '../source/source.ts'

/** Checkpoints are at most ten seconds apart: an older state is held back, or ordering stalls. */
const SUSPICIOUS_AGE_MS = 12_000
/** The reader also asks another node when one takes this many times its usual latency. */
export const HEDGE_FACTOR = 3
/** The bounds of that time. Below, a pause of either process would double the load; above, an answer may be lost. */
const HEDGE_MS_MIN = 50
const HEDGE_MS_MAX = 2500

export const CERTIFIED_DECISIONS = {
  /** Distinct nodes to consult before a suspiciously old answer is believed: one of them is honest. */
  consultedMin: (faultyMax: number): number => faultyMax + 1,
  isSuspicious: (ageMs: number): boolean => ageMs > SUSPICIOUS_AGE_MS,
  isStale,
  isBelowOffset,
  hasSigners: (signerCount: number, needed: number): boolean => signerCount >= needed,
  /** Whether no ledger can have had both states: they differ at one offset, or offset and time disagree on the order. */
  contradicts(a: CheckedCertificate, b: CheckedCertificate): boolean {
    if (a.offset !== b.offset) return (a.offset - b.offset) * (a.recordTime - b.recordTime) < 0
    const isSame = a.historyHash === b.historyHash && a.recordTime === b.recordTime
    return !isSame || !bytesEqual(a.root, b.root)
  },
  /** Only a node that signed its address has an identity: two unsigned addresses may be one server. */
  identityOf: ({ name }: NodeObservations): string | null => name,
  hedgeMs: (usualMs: number): number =>
    Math.min(Math.max(HEDGE_FACTOR * usualMs, HEDGE_MS_MIN), HEDGE_MS_MAX),
}
export type CertifiedDecisions = typeof CERTIFIED_DECISIONS
