/**
 * What nodes signed: certified answers, whose format is in docs/certified-reads.md, snapshots of the state, and evidence
 * against nodes, which can be checked offline (D-43).
 */
import { Type } from 'typebox'
import * as m from './members.ts'
import { Hex32, LedgerOffset, NodeName, Signature } from './scalars.ts'

/** Statements in one answer: what a node keeps of its own. */
const STATE_STATEMENTS_MAX = 64

/** `parseCertificate` of `packages/verifier` is the strict check; this is its shape for documents. */
const Certificate = m.component('Certificate', 'What members of the genesis signed of the state.', {
  genesis_hash: m.about(Hex32, 'Names the network.'),
  history_hash: m.about(Hex32, 'The history hash at the offset.'),
  offset: m.about(LedgerOffset, 'Where the ledger was in this state.'),
  record_time: m.integer(0, 'Microseconds since the epoch, there.'),
  signatures: m.array(
    'Pairs of a member of the genesis and its signature in hex, in the order of the genesis.',
    Type.Array(Type.String(), { minItems: 2, maxItems: 2 }),
  ),
  state_root: m.about(Hex32, 'The root of the state tree there.'),
})

export const CertificateAnswer = m.component(
  'CertificateAnswer',
  'The newest certificate that the node has.',
  { certificate: Certificate },
)

export const StateStatements = m.component(
  'StateStatements',
  'What the answering node signed of late.',
  {
    statements: m.array(
      'By ascending offset, each with the signature of the answering node alone.',
      Certificate,
      { maxItems: STATE_STATEMENTS_MAX },
    ),
  },
)

export const CertifiedAnswer = m.component(
  'CertifiedAnswer',
  'Proves the answer to whoever knows the genesis, also that there is none. The answer itself is what a verifier reads out of it.',
  {
    certificate: Certificate,
    proof: m.array(
      'The part of the state tree that shows the answer, depth first.',
      Type.Unknown(),
    ),
  },
)

const ShownRow = Type.Object(
  {
    event_id: m.string('Of the row.'),
    record_time: m.integer(0, 'Microseconds since the epoch.'),
    row: m.optional(Type.String(), 'Its JSON; of a row beside the page there is none.'),
    row_hash: m.optional(Type.String(), 'In its place the SHA-256 of the JSON, base64.'),
  },
  { description: 'A row of the page, or beside it.' },
)

export const CertifiedActivities = m.component(
  'CertifiedActivities',
  'Proves a page of activities to whoever knows the genesis, also that there are no more.',
  {
    certificate: Certificate,
    proof: m.part('The rows, and the state that they follow from.', {
      run: m.part('The rows, as a part of the activity tree.', {
        first: m.integer(0, 'Place of the first row, from 0.'),
        hashes: m.array(
          'Of the subtrees beside the rows, from left to right, base64.',
          Type.String(),
        ),
        rows: m.array('The row before the page, those of it, and the one behind it.', ShownRow),
      }),
      state: m.array(
        'The part of the state tree that shows size and root of the activity tree.',
        Type.Unknown(),
      ),
    }),
  },
)

const Snapshot = m.component('Snapshot', 'A snapshot of the state, and who vouches for it.', {
  offset: m.about(LedgerOffset, 'Where the ledger was in this state.'),
  record_time: m.integer(0, 'Microseconds since the epoch, there.'),
  history_hash: m.about(Hex32, 'The history hash at the offset.'),
  content_hash: m.about(Hex32, 'SHA-256 of the manifest.'),
  signatures: m.array(
    'That of the answering node, and those that it knows of others.',
    m.part('What one member signed.', {
      name: m.string('Of the member in the genesis.'),
      signature: m.string('Of its scan key, hex.'),
    }),
  ),
})

export const SnapshotsAnswer = m.component('SnapshotsAnswer', 'The snapshots that a node has.', {
  snapshots: m.array('The newest first.', Snapshot, { maxItems: 3 }),
})

const SignedStatement = m.component('SignedStatement', 'Something that a node signed.', {
  statement: m.string('Its bytes in hex.'),
  signature: Signature,
})

const Evidence = m.component('Evidence', 'Two statements by one key that contradict each other.', {
  signer: NodeName,
  statements: m.array('Two that cannot both be true.', SignedStatement, {
    minItems: 2,
    maxItems: 2,
  }),
})

export const EvidenceAnswer = m.component(
  'EvidenceAnswer',
  'Proofs that nodes contradicted themselves.',
  { evidence: m.array('The first and the last of each node.', Evidence) },
)
