/** Certified answers: what members signed of the state, and what a proof shows of it. docs/certified-reads.md has the format. */
import { Type } from 'typebox'
import { about } from './members.ts'
import { Hex32, LedgerOffset, NodeName, Signature } from './scalars.ts'

/** Names the form of an answer that proves itself. */
export const CERTIFIED_MEDIA_TYPE = 'application/vnd.quorumscan.certified+json'

/** Statements in one answer: what a node keeps of its own. */
export const STATE_STATEMENTS_MAX = 64

/** `parseCertificate` of `packages/consensus` is the strict check; this is its shape for documents. */
const Certificate = Type.Object(
  {
    genesis_hash: about(Hex32, 'Names the network.'),
    history_hash: about(Hex32, 'The history hash at the offset.'),
    offset: about(LedgerOffset, 'Where the ledger was in this state.'),
    record_time: Type.Integer({ minimum: 0, description: 'Microseconds since the epoch, there.' }),
    signatures: Type.Array(Type.Tuple([NodeName, Signature]), {
      description: 'Of members of the genesis, in its order.',
    }),
    state_root: about(Hex32, 'The root of the state tree there.'),
  },
  { title: 'Certificate', description: 'What members of the genesis signed of the state.' },
)

export const CertificateAnswer = Type.Object(
  { certificate: Certificate },
  { title: 'CertificateAnswer', description: 'The newest certificate that the node has.' },
)

export const StateStatements = Type.Object(
  {
    statements: Type.Array(Certificate, {
      maxItems: STATE_STATEMENTS_MAX,
      description: 'By ascending offset, each with the signature of the answering node alone.',
    }),
  },
  { title: 'StateStatements', description: 'What the answering node signed of late.' },
)

export const CertifiedAnswer = Type.Object(
  {
    certificate: Certificate,
    proof: Type.Array(Type.Unknown(), {
      description: 'The part of the state tree that shows the answer, depth first.',
    }),
  },
  {
    title: 'CertifiedAnswer',
    description:
      'Proves the answer to whoever knows the genesis, also that there is none. The answer itself is what a verifier reads out of it.',
  },
)
