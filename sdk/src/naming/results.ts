/** The outcomes of resolving a typed text, and the answers of naming systems. */
import type { CertifiedReceipt } from '@quorumscan/reader/certified'
import type { QuorumscanError } from '../errors.ts'
import type { Basis, NameChange } from '../names/lookup-types.ts'

export const STRENGTHS: readonly Basis[] = ['claimed', 'proxy', 'trusted', 'votes', 'proof']

/** Whether an answer on this basis is at least as strong as `least`. No answer is, if that is no basis. */
export function isAtLeast(basis: Basis, least: Basis): boolean {
  const index = STRENGTHS.indexOf(least)
  return index >= 0 && STRENGTHS.indexOf(basis) >= index
}

/** A name with its party, as one resolver answered. */
export type Candidate = {
  readonly party: string
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
  /** Proves the answer to every holder of the genesis; null unless `basis` is `proof`. */
  readonly receipt: CertifiedReceipt | null
}

/** A party to send to: the answer is checked as `minBasis` demands. */
export type Resolved = Candidate & { readonly kind: 'found' }

/** A resolver that gave no answer, and why. */
export type ResolverFailure = { readonly resolver: string; readonly error: QuorumscanError }

/**
 * No party to send to.
 *
 * `absent`: no naming system has the name. `claimed`: the only answers are weaker than `minBasis`. `changed`: the party of
 * the name is another one than before, and `acceptChange` did not accept it. `expired`: the entry has ended, by this
 * device's clock or by proven time. `disputed`: two resolvers of one naming system gave conflicting answers. `ambiguous`: two naming
 * systems have the unqualified name, for different parties. `failed`: a naming system that may have the name gave no
 * answer. `invalid`: the text cannot be a name of this network; `error` has the reason.
 */
export type Unresolved = {
  readonly kind:
    | 'absent'
    | 'claimed'
    | 'changed'
    | 'expired'
    | 'disputed'
    | 'ambiguous'
    | 'failed'
    | 'invalid'
  readonly party: null
  /** The answers that were not used, in the order of the resolvers. */
  readonly candidates: readonly Candidate[]
  readonly failures: readonly ResolverFailure[]
  /** The first failure, or why the text is invalid; else null. */
  readonly error: QuorumscanError | null
}

/** All outcomes of `resolve`. Only `found` has a party. */
export type Resolution = Resolved | Unresolved
