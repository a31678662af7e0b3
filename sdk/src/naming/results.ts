/** The outcomes of resolving a typed text, and the answers of naming systems. */
import type { CertifiedReceipt } from '@quorumscan/reader/certified'
import type { QuorumscanError } from '../errors.ts'
import type { Basis, NameChange } from '../names/lookup-types.ts'
import type { Shown } from '../names/shown.ts'
import type { Party } from '../platform/party.ts'

export const STRENGTHS: readonly Basis[] = ['claimed', 'proxy', 'trusted', 'votes', 'proof']

/** Whether an answer on this basis is at least as strong as `least`. No answer is, if that is no basis. */
export function isAtLeast(basis: Basis, least: Basis): boolean {
  const index = STRENGTHS.indexOf(least)
  return index >= 0 && STRENGTHS.indexOf(basis) >= index
}

/** A name with its party, as one resolver answered. */
export type Candidate = {
  /** Its form is checked. Whether it is the party to pay to is what `proven` says. */
  readonly party: Party
  /** Qualified: `mainnet:cns:alice.unverified.ns`. */
  readonly fqpn: string
  /**
   * What a person reads: the display name of the resolver, or the name itself if that is blank, longer than 64
   * characters, invisible or misleading in part, of letters that only look like others, or the name of another party.
   */
  readonly displayName: string
  /** The naming system. */
  readonly resolver: string
  readonly basis: Basis
  /** ISO-8601. From then on the name has to be resolved again. null: no end. */
  readonly validUntil: string | null
  /** Record time of the state that was read; null: the naming system has none. */
  readonly recordTime: string | null
  /** Not null: the clock of this device is wrong, and lags proven time by so many ms. */
  readonly clockSkewMs: number | null
  /** Not null: the name belonged to another party when it was last accepted on this device. */
  readonly changed: NameChange | null
  /** Proves the answer to every holder of the genesis; null unless scan nodes answered. */
  readonly receipt: CertifiedReceipt | null
}

/** A resolver that gave no answer, and why. */
export type ResolverFailure = { readonly resolver: string; readonly error: QuorumscanError }

type Proven = Extract<Shown<Candidate>, { readonly kind: 'proven' }>
type Changed = Extract<Shown<Candidate>, { readonly kind: 'changed' }>
type Failed = Extract<Shown<Candidate>, { readonly kind: 'failed' }>

/**
 * The outcome of `resolve`, in the vocabulary of `Shown`. Only `proven` with a value has a `party`: the answer is checked as
 * `minBasis` demands.
 *
 * Codes of `failed`: NAME_CLAIMED, the only answers are weaker than `minBasis`. NAME_EXPIRED, the entry has ended, by this
 * device's clock or by proven time. CONSENSUS_DISPUTED, two resolvers of one naming system gave conflicting answers.
 * NAME_AMBIGUOUS, two naming systems have the unqualified name, for different parties. INVALID_NAME and INVALID_PARTY, the
 * text cannot be a name of this network. Any other code is why a naming system that may have the name gave no answer.
 */
export type Resolution = {
  /** All answers, in the order of the resolvers. */
  readonly candidates: readonly Candidate[]
  readonly failures: readonly ResolverFailure[]
} & (
  | (Proven & { readonly value: Candidate; readonly party: Party })
  | (Proven & { readonly value: null; readonly party: null })
  | (Changed & Pick<Proven, 'basis' | 'recordTime'> & { readonly party: null })
  | (Failed & { readonly party: null })
)
