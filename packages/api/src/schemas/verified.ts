/** What can be checked offline: receipts and evidence (D-41 to D-43). */
import { Type } from 'typebox'
import { about, component, part } from './members.ts'
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
const Receipt = component('Receipt', 'Proves the answer to whoever knows the genesis.', {
  tag: Type.Literal('quorumscan/answer/1', { description: 'What was signed.' }),
  ...position,
  request: part('What was asked.', {
    operation: Type.String({ description: 'Which read.' }),
    parameters: Type.Record(Type.String(), Type.Unknown(), {
      description: 'All of them, also those that were left out.',
    }),
  }),
  answer: Type.String({ description: 'The bytes that were signed, in hex.' }),
  signatures: Type.Array(Type.Array(Type.String(), { minItems: 2, maxItems: 2 }), {
    description: 'Pairs of a node and its signature, in hex.',
  }),
})

export const VerifiedAnswer = component(
  'VerifiedAnswer',
  'The answer of the operation with its receipt.',
  {
    status: Type.Integer({ description: '200, or 404 where the answer is that there is none.' }),
    answer: Type.Unknown({ description: 'What the operation answers without a receipt.' }),
    receipt: Receipt,
  },
)

const SignedStatement = component('SignedStatement', 'Something that a node signed.', {
  statement: Type.String({ description: 'Its bytes in hex.' }),
  signature: Signature,
})

export const EvidenceAnswer = component(
  'EvidenceAnswer',
  'Proofs that nodes contradicted themselves.',
  {
    evidence: Type.Array(
      component('Evidence', 'Two statements by one key that contradict each other.', {
        signer: NodeName,
        statements: Type.Array(SignedStatement, {
          minItems: 2,
          maxItems: 2,
          description: 'Two that cannot both be true.',
        }),
      }),
      { description: 'The first and the last of each node.' },
    ),
  },
)
