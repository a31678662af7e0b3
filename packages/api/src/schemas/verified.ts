/** What can be checked offline: receipts, attestations, evidence (D-41 to D-43). */
import { Type } from 'typebox'
import { Hex32, LedgerOffset, NodeName, Signature } from './scalars.ts'

/** Names the form of an answer that carries its receipt (D-42). */
export const VERIFIED_MEDIA_TYPE = 'application/vnd.quorumscan.verified+json'

/** `verifyReceipt` of `packages/consensus` is the strict check; this is its shape for documents. */
const Receipt = Type.Object(
  {
    tag: Type.Literal('quorumscan/answer/1'),
    genesis_hash: Hex32,
    offset: LedgerOffset,
    record_time: Type.Integer({ minimum: 0, description: 'Microseconds since the epoch.' }),
    history_hash: Hex32,
    request: Type.Object({
      operation: Type.String(),
      parameters: Type.Record(Type.String(), Type.Unknown()),
    }),
    answer: Type.String({ description: 'The bytes that were signed, in hex.' }),
    signatures: Type.Array(Type.Array(Type.String(), { minItems: 2, maxItems: 2 }), {
      description: 'Pairs of a node and its signature, in hex.',
    }),
  },
  { title: 'Receipt', description: 'Proves the answer to whoever knows the genesis.' },
)

export const VerifiedAnswer = Type.Object(
  {
    status: Type.Integer({ description: '200, or 404 where the answer is that there is none.' }),
    answer: Type.Unknown(),
    receipt: Receipt,
  },
  { title: 'VerifiedAnswer', description: 'The answer of the operation with its receipt.' },
)

export const VerifiedBatchAnswer = Type.Object(
  { results: Type.Array(VerifiedAnswer) },
  {
    title: 'VerifiedBatchAnswer',
    description: 'For each lookup, in order, what it would be answered with alone.',
  },
)

/** A statement as a receipt holds it, of one node. */
export const Attestation = Type.Object(
  {
    tag: Type.Literal('quorumscan/attestation/1'),
    genesis_hash: Hex32,
    offset: LedgerOffset,
    record_time: Type.Integer({ minimum: 0, description: 'Microseconds since the epoch.' }),
    history_hash: Hex32,
    node: NodeName,
    signature: Signature,
  },
  { title: 'Attestation', description: 'What the node holds for the history up to the offset.' },
)

const SignedStatement = Type.Object(
  { statement: Type.String({ description: 'Its bytes in hex.' }), signature: Signature },
  { title: 'SignedStatement' },
)

export const EvidenceAnswer = Type.Object(
  {
    evidence: Type.Array(
      Type.Object(
        {
          signer: NodeName,
          statements: Type.Array(SignedStatement, { minItems: 2, maxItems: 2 }),
        },
        {
          title: 'Evidence',
          description: 'Two statements by one key that contradict each other.',
        },
      ),
    ),
  },
  { title: 'EvidenceAnswer' },
)
