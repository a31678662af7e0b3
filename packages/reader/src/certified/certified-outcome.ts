/** What the caller of a certified read gets (D-38): kind and reason, made of the decider's `Ending`. */

import { type CanonicalRequest, type TrustRule, toHex } from '@quorumscan/verifier'
import type { CheckedCertificate } from '@quorumscan/verifier/certified'
import type {
  Decided,
  Disputed,
  Insufficient,
  Lagging,
  Participation,
  VoteGroup,
} from '../votes/read-outcome.ts'
import type { CallOutcome } from './certified-state.ts'

/** A proven answer. `agreed` are the members who signed the state that it is proven from. */
export type CertifiedAnswer<Answer> = Omit<Decided, 'answer'> & {
  readonly answer: Answer
  readonly receipt: CertifiedReceipt
}

/** Proves an answer to every holder of the genesis, without a time limit: the document and its request. */
export type CertifiedReceipt = {
  readonly request: CanonicalRequest
  readonly document: string
  /** The rule that its reader applied. It proves nothing: who verifies the receipt applies a rule of their own. */
  readonly trust?: TrustRule
}

/** A page walk took longer than nodes keep the state at its offset. The caller has to start again. */
export type OffsetPruned = Participation & { readonly kind: 'pruned' }

/** No node sent a proven answer. */
export type Unproven = Insufficient & {
  /** Why the newest refused reply proves nothing; null: no node sent an answer. */
  readonly unproven: string | null
}

export type CertifiedOutcome<Answer> =
  | CertifiedAnswer<Answer>
  | Disputed
  | Unproven
  | Lagging
  | OffsetPruned

/** Nodes certify several states per second. */
const RETRY_AFTER_MS = 250
/** Digits of a state root, for a person to compare. */
const DIGEST_LENGTH = 16

/** Who had to sign. */
type Signers = Pick<Participation, 'nodeCount' | 'trust'> & { readonly faultyMax: number }

/** @param index - Position of the lookup in its call; undefined for other queries. */
export function outcomeOf(
  { ending, read, first, clockSkewMs, threshold }: CallOutcome & { readonly threshold: number },
  { nodeCount, trust, faultyMax }: Signers,
  index?: number,
): CertifiedOutcome<unknown> {
  const reachedCount = read.reached.size
  const part = {
    threshold,
    nodeCount,
    trust,
    answered: reachedCount,
    agreed: [],
    dissented: [],
    clockSkewMs,
  }
  switch (ending.kind) {
    case 'answered': {
      const { offset, recordTime, historyHash, signers } = ending.point
      // `node-asker.ts` makes it in this form.
      const { answer: all, document } = ending.answer as { answer: unknown; document: string }
      const answer =
        index === undefined ? all : ((all as readonly unknown[])[first + index] ?? null)
      const receipt = { request: read.query.request, document }
      const kind = kindOf(answer, faultyMax)
      return { ...part, kind, answer, offset, recordTime, historyHash, agreed: signers, receipt }
    }
    case 'disputed':
      return { ...part, ...ending, reason: 'fork', groups: ending.points.map(groupOf) }
    case 'insufficient':
      return { ...part, ...ending, reachable: reachedCount, needed: threshold }
    case 'lagging': {
      const { reason } = ending
      if (reason === 'pruned') return { ...part, kind: 'pruned' }
      const ageMs = ending.ageMs === null ? null : Math.ceil(ending.ageMs)
      return { ...part, ...ending, reason, ageMs, retryAfterMs: RETRY_AFTER_MS }
    }
  }
}

/** The kind of a proven answer, which is null if no such entry exists. */
export function kindOf(answer: unknown, faultyMax: number): CertifiedAnswer<unknown>['kind'] {
  if (faultyMax === 0) return answer === null ? 'trusted-absent' : 'trusted'
  return answer === null ? 'verified-absent' : 'verified'
}

function groupOf({ signers, root, otherCount: _, ...point }: CheckedCertificate): VoteGroup {
  const answerDigest = toHex(root).slice(0, DIGEST_LENGTH)
  return { nodes: signers, ...point, answerDigest, entry: null }
}
