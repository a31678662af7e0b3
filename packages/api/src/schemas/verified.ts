/** Evidence against nodes, which can be checked offline (D-43). */
import { Type } from 'typebox'
import * as m from './members.ts'
import { NodeName, Signature } from './scalars.ts'

const SignedStatement = m.component('SignedStatement', 'Something that a node signed.', {
  statement: m.string('Its bytes in hex.'),
  signature: Signature,
})

export const EvidenceAnswer = m.component(
  'EvidenceAnswer',
  'Proofs that nodes contradicted themselves.',
  {
    evidence: m.array(
      'The first and the last of each node.',
      m.component('Evidence', 'Two statements by one key that contradict each other.', {
        signer: NodeName,
        statements: Type.Array(SignedStatement, {
          minItems: 2,
          maxItems: 2,
          description: 'Two that cannot both be true.',
        }),
      }),
    ),
  },
)
