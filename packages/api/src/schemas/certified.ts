/** Certified answers: what members signed of the state, and what a proof shows of it. docs/certified-reads.md has the format. */
import { Type } from 'typebox'
import { about, component } from './members.ts'
import { Hex32, LedgerOffset } from './scalars.ts'

/** Names the form of an answer that proves itself. */
export const CERTIFIED_MEDIA_TYPE = 'application/vnd.quorumscan.certified+json'

/** Statements in one answer: what a node keeps of its own. */
export const STATE_STATEMENTS_MAX = 64

/** `parseCertificate` of `packages/consensus` is the strict check; this is its shape for documents. */
const Certificate = component('Certificate', 'What members of the genesis signed of the state.', {
  genesis_hash: about(Hex32, 'Names the network.'),
  history_hash: about(Hex32, 'The history hash at the offset.'),
  offset: about(LedgerOffset, 'Where the ledger was in this state.'),
  record_time: Type.Integer({ minimum: 0, description: 'Microseconds since the epoch, there.' }),
  signatures: Type.Array(Type.Array(Type.String(), { minItems: 2, maxItems: 2 }), {
    description:
      'Pairs of a member of the genesis and its signature in hex, in the order of the genesis.',
  }),
  state_root: about(Hex32, 'The root of the state tree there.'),
})

export const CertificateAnswer = component(
  'CertificateAnswer',
  'The newest certificate that the node has.',
  { certificate: Certificate },
)

export const StateStatements = component(
  'StateStatements',
  'What the answering node signed of late.',
  {
    statements: Type.Array(Certificate, {
      maxItems: STATE_STATEMENTS_MAX,
      description: 'By ascending offset, each with the signature of the answering node alone.',
    }),
  },
)

export const CertifiedAnswer = component(
  'CertifiedAnswer',
  'Proves the answer to whoever knows the genesis, also that there is none. The answer itself is what a verifier reads out of it.',
  {
    certificate: Certificate,
    proof: Type.Array(Type.Unknown(), {
      description: 'The part of the state tree that shows the answer, depth first.',
    }),
  },
)
