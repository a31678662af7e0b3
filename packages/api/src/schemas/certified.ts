/**
 * Statements that nodes signed: certified answers (docs/certified-reads.md), snapshots of the state, and evidence against
 * nodes, which can be verified offline (D-43).
 */
import { Type } from 'typebox'
import * as m from './members.ts'
import { Hex32, LedgerOffset, NodeName, Signature } from './scalars.ts'

/** Statements in one answer: what a node keeps of its own. */
const STATE_STATEMENTS_MAX = 64

/** `parseCertificate` of `packages/verifier` is the strict check; this is its shape for documents. */
const Certificate = m.component('Certificate', 'A statement of the state, signed by members.', {
  genesis_hash: m.about(Hex32, 'Names the network.'),
  history_hash: m.about(Hex32, 'The history hash at the offset.'),
  offset: m.about(LedgerOffset, 'The offset of this state.'),
  record_time: m.integer(0, 'Its record time, in microseconds since the epoch.'),
  signatures: m.array(
    'Pairs of a member of the genesis and its signature in hex, in the order of the genesis.',
    Type.Array(Type.String(), { minItems: 2, maxItems: 2 }),
  ),
  state_root: m.about(Hex32, 'The root of the state tree there.'),
})

export const CertificateAnswer = m.component('CertificateAnswer', 'The newest certificate.', {
  certificate: Certificate,
})

export const StateStatements = m.component('StateStatements', 'What the node signed recently.', {
  statements: m.array(
    'By ascending offset, each signed by the answering node alone.',
    Certificate,
    { maxItems: STATE_STATEMENTS_MAX },
  ),
})

export const CertifiedAnswer = m.component(
  'CertifiedAnswer',
  'Proves the answer to a client that has the genesis, also an absence. A verifier extracts the answer from it.',
  {
    certificate: Certificate,
    proof: m.array('The part of the state tree with the answer, depth first.', Type.Unknown()),
  },
)

const ShownRow = Type.Object(
  {
    event_id: m.string('The id of the event of the row.'),
    record_time: m.integer(0, 'Microseconds since the epoch.'),
    row: m.optional(Type.String(), 'Its JSON; absent for rows next to the page.'),
    row_hash: m.optional(Type.String(), 'Instead, the SHA-256 of the JSON, base64.'),
  },
  { description: 'A row of the page, or next to it.' },
)

export const CertifiedActivities = m.component(
  'CertifiedActivities',
  'Proves a page of activities, and its completeness, to a client that has the genesis.',
  {
    certificate: Certificate,
    proof: m.part('The rows, and the state that contains them.', {
      run: m.part('The rows, as a part of the activity tree.', {
        first: m.integer(0, 'Place of the first row, from 0.'),
        hashes: m.array('Hashes of the other subtrees, from left to right, base64.', Type.String()),
        rows: m.array('The row before the page, its rows, and the row after it.', ShownRow),
      }),
      state: m.array(
        'The part of the state tree with size and root of the activity tree.',
        Type.Unknown(),
      ),
    }),
  },
)

const Snapshot = m.component('Snapshot', 'A snapshot of the state, with signatures.', {
  offset: m.about(LedgerOffset, 'The offset of this state.'),
  record_time: m.integer(0, 'Its record time, in microseconds since the epoch.'),
  history_hash: m.about(Hex32, 'The history hash at the offset.'),
  content_hash: m.about(Hex32, 'SHA-256 of the manifest.'),
  signatures: m.array(
    'Signatures of the answering node, and of others that it knows.',
    m.part('The signature of a member.', {
      name: m.string('The name of the member.'),
      signature: m.string('The signature of its scan key, hex.'),
    }),
  ),
})

export const SnapshotsAnswer = m.component('SnapshotsAnswer', 'The snapshots that a node has.', {
  snapshots: m.array('The newest first.', Snapshot, { maxItems: 3 }),
})

const SignedStatement = m.component('SignedStatement', 'A statement with its signature.', {
  statement: m.string('Its bytes in hex.'),
  signature: Signature,
})

const Evidence = m.component('Evidence', 'Two statements of one key that exclude each other.', {
  signer: NodeName,
  statements: m.array('The two statements.', SignedStatement, { minItems: 2, maxItems: 2 }),
})

export const EvidenceAnswer = m.component('EvidenceAnswer', 'Proofs of equivocation.', {
  evidence: m.array('The first and the last of each node.', Evidence),
})
