/** Why a typed text has no party. Loaded once it has none. */
import { type QuorumscanError, transient } from '../errors.ts'
import { asError } from './party-resolver.ts'
import type { Candidate, ResolverFailure } from './results.ts'

/** What the answers amount to. `failed`: a naming system that may have the name gave none. */
export type NoParty = 'expired' | 'disputed' | 'ambiguous' | 'claimed' | 'failed'

export function resolutionError(
  kind: NoParty,
  answers: {
    readonly candidates: readonly Candidate[]
    readonly failures: readonly ResolverFailure[]
  },
): QuorumscanError {
  const { candidates, failures } = answers
  const facts = { details: { candidates } }
  switch (kind) {
    case 'expired': {
      const message = 'The name has expired. It may get another owner.'
      return transient('NAME_EXPIRED', message, facts)
    }
    case 'disputed': {
      const message = 'Two resolvers have conflicting answers. Do not send.'
      return transient('CONSENSUS_DISPUTED', message, facts)
    }
    case 'ambiguous': {
      const message =
        'Two naming systems have this name, for different parties. Type it with its naming system.'
      return transient('NAME_AMBIGUOUS', message, facts)
    }
    case 'claimed': {
      const message = 'One server states an owner, and nothing was checked. Do not send.'
      return transient('NAME_CLAIMED', message, facts)
    }
    case 'failed': {
      const dispute = failures.find(({ error }) => error.code === 'CONSENSUS_DISPUTED')
      return asError((dispute ?? failures[0])?.error)
    }
  }
}
