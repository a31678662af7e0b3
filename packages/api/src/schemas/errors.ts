import { Type } from 'typebox'
import * as m from './members.ts'

/** The body of every error (D-6). */
export const ErrorAnswer = m.component('Error', 'A refusal.', {
  error: m.string('A sentence for a person.'),
  code: m.string('UPPER_SNAKE, permanent.'),
  definite: m.boolean('True: certainly without effect.'),
  retryable: m.boolean('True: the same request may succeed later.'),
  request_id: m.string('Also in the log of the process.'),
  details: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()], {
    description: 'Facts about it, such as the member that is wrong.',
  }),
})
