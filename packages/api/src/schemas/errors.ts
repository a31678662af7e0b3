import { Type } from 'typebox'
import { component } from './members.ts'

/** The body of every error (D-6). */
export const ErrorAnswer = component('Error', 'A refusal.', {
  error: Type.String({ description: 'A sentence for a person.' }),
  code: Type.String({ description: 'UPPER_SNAKE, permanent.' }),
  definite: Type.Boolean({ description: 'True: certainly without effect.' }),
  retryable: Type.Boolean({ description: 'True: the same request may succeed later.' }),
  request_id: Type.String({ description: 'Also in the log of the process.' }),
  details: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()], {
    description: 'Facts about it, such as the member that is wrong.',
  }),
})
