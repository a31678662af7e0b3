/** What certified reads end in: by the names that endings of reads have (D-38), made of what the decider ends with. */

import type { CanonicalRequest } from '@quorumscan/verifier'
import { maxFaulty, toHex } from '@quorumscan/verifier'
import type { CheckedCertificate } from '@quorumscan/verifier/certified'
import type { Disputed, Insufficient, Lagging, Participation, VoteGroup } from '../votes/outcome.ts'
import type { Ended } from './state.ts'

/** A proven answer. `agreed` are the members who signed the state that it is proven from. */
export type CertifiedAnswer<Answer> = Participation & {
  /** `…-absent`: proven that there is none. `trusted…`: f = 0, one node could lie (D-34). */
  readonly kind: 'verified' | 'verified-absent' | 'trusted' | 'trusted-absent'
  readonly answer: Answer
  readonly offset: number
  /** µs since the epoch. */
  readonly recordTime: number
  /** Lower-case hex. */
  readonly historyHash: string
  readonly receipt: CertifiedReceipt
}

/** What proves an answer to anybody who has the genesis, for ever: the document as it came, and what it answers. */
export type CertifiedReceipt = {
  readonly request: CanonicalRequest
  readonly document: string
}

/** A walk over pages lasted longer than nodes keep the state that it began at: it has to begin anew. */
export type Expired = Participation & { readonly kind: 'expired' }

/** Nobody gave an answer that is proven. */
export type Unproven = Insufficient & {
  /** Why what was heard last proves nothing; null: nobody sent an answer. */
  readonly unproven: string | null
}

export type CertifiedOutcome<Answer> =
  | CertifiedAnswer<Answer>
  | Disputed
  | Unproven
  | Lagging
  | Expired

/** Nodes certify several states a second. */
const RETRY_AFTER_MS = 250
/** Of a state root, for a person to compare. */
const DIGEST_LENGTH = 16

/** @param index - Of a lookup among those of its call; undefined: something else was asked. */
export function outcomeOf(
  { ending, read, first, threshold }: Ended & { readonly threshold: number },
  nodeCount: number,
  index?: number,
): CertifiedOutcome<unknown> {
  const reachedCount = read.reached.size
  const part = { threshold, nodeCount, answered: reachedCount, agreed: [], dissented: [] }
  switch (ending.kind) {
    case 'answered': {
      const { offset, recordTime, historyHash, signers } = ending.point
      // As the asker made it.
      const { answer: all, document } = ending.answer as { answer: unknown; document: string }
      const answer =
        index === undefined ? all : ((all as readonly unknown[])[first + index] ?? null)
      const receipt = { request: read.request.request, document }
      const kind = kindOf(answer, nodeCount)
      return { ...part, kind, answer, offset, recordTime, historyHash, agreed: signers, receipt }
    }
    case 'disputed':
      return { ...part, ...ending, reason: 'fork', groups: ending.points.map(groupOf) }
    case 'insufficient':
      return { ...part, ...ending, reachable: reachedCount, needed: threshold }
    case 'lagging': {
      const { reason } = ending
      if (reason === 'pruned') return { ...part, kind: 'expired' }
      const ageMs = ending.ageMs === null ? null : Math.ceil(ending.ageMs)
      return { ...part, ...ending, reason, ageMs, retryAfterMs: RETRY_AFTER_MS }
    }
  }
}

/** What a proven answer is called: null is that there is none. */
export function kindOf(answer: unknown, nodeCount: number): CertifiedAnswer<unknown>['kind'] {
  if (maxFaulty(nodeCount) === 0) return answer === null ? 'trusted-absent' : 'trusted'
  return answer === null ? 'verified-absent' : 'verified'
}

function groupOf({ signers, root, ...point }: CheckedCertificate): VoteGroup {
  const answerDigest = toHex(root).slice(0, DIGEST_LENGTH)
  return { nodes: signers, ...point, answerDigest, entry: null }
}
