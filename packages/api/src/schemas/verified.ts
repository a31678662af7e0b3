/** Evidence against nodes, which can be checked offline (D-43). */
import { Type } from 'typebox'
import { component } from './members.ts'
import { NodeName, Signature } from './scalars.ts'

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
