/** What can be checked offline: receipts, attestations, evidence (D-41 to D-43). */
import { Type } from 'typebox'
import { about } from './members.ts'
import { Hex32, LedgerOffset, NodeName, Signature } from './scalars.ts'

/** Names the form of an answer that carries its receipt (D-42). */
export const VERIFIED_MEDIA_TYPE = 'application/vnd.quorumscan.verified+json'

const position = {
  genesis_hash: about(Hex32, 'Names the network.'),
  offset: about(LedgerOffset, 'Where the log was read.'),
  record_time: Type.Integer({ minimum: 0, description: 'Microseconds since the epoch, there.' }),
  history_hash: about(Hex32, 'The history hash there.'),
}

/** `verifyReceipt` of `packages/consensus` is the strict check; this is its shape for documents. */
const Receipt = Type.Object(
  {
    tag: Type.Literal('quorumscan/answer/1', { description: 'What was signed.' }),
    ...position,
    request: Type.Object(
      {
        operation: Type.String({ description: 'Which read.' }),
        parameters: Type.Record(Type.String(), Type.Unknown(), {
          description: 'All of them, also those that were left out.',
        }),
      },
      { description: 'What was asked.' },
    ),
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
    answer: Type.Unknown({ description: 'What the operation answers without a receipt.' }),
    receipt: Receipt,
  },
  { title: 'VerifiedAnswer', description: 'The answer of the operation with its receipt.' },
)

export const VerifiedBatchAnswer = Type.Object(
  { results: Type.Array(VerifiedAnswer, { description: 'One for each lookup.' }) },
  {
    title: 'VerifiedBatchAnswer',
    description: 'For each lookup, in order, what it would be answered with alone.',
  },
)

/** A statement as a receipt holds it, of one node. */
export const Attestation = Type.Object(
  {
    tag: Type.Literal('quorumscan/attestation/1', { description: 'What was signed.' }),
    ...position,
    node: NodeName,
    signature: Signature,
  },
  { title: 'Attestation', description: 'What the node holds for the history up to the offset.' },
)

const SignedStatement = Type.Object(
  { statement: Type.String({ description: 'Its bytes in hex.' }), signature: Signature },
  { title: 'SignedStatement', description: 'Something that a node signed.' },
)

export const EvidenceAnswer = Type.Object(
  {
    evidence: Type.Array(
      Type.Object(
        {
          signer: NodeName,
          statements: Type.Array(SignedStatement, {
            minItems: 2,
            maxItems: 2,
            description: 'Two that cannot both be true.',
          }),
        },
        {
          title: 'Evidence',
          description: 'Two statements by one key that contradict each other.',
        },
      ),
      { description: 'The first and the last of each node.' },
    ),
  },
  { title: 'EvidenceAnswer', description: 'Proofs that nodes contradicted themselves.' },
)
