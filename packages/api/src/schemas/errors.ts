/** The bodies of errors. */
import { Type } from 'typebox'
import { Int32 } from './ledger/relaxed.ts'
import * as m from './members.ts'

/** The body of every error (D-6). */
export const ErrorAnswer = m.component('Error', 'A refusal.', {
  error: m.string('A sentence for a person.'),
  code: m.string('UPPER_SNAKE, permanent.'),
  definite: m.boolean('True: certainly without effect.'),
  retryable: m.boolean('True: the same request may succeed later.'),
  request_id: m.string('Also in the log of the process.'),
  details: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()], {
    description: 'Facts about it, such as the invalid member.',
  }),
})

/** The body of every error under `/v2` (docs/upstream.md §L7.1). */
export const LedgerErrorAnswer = m.component('JsCantonError', 'A refusal.', {
  code: m.string('UPPER_SNAKE, permanent; `NA` if only the log of the process has the reason.'),
  cause: m.string('A sentence for a person.'),
  correlationId: m.nullableText('The submission id, of errors of submissions.'),
  traceId: m.nullableText('The id of the request in the log of the process.'),
  context: m.record('Facts about the error.', Type.String()),
  resources: m.array(
    'The resources concerned, as pairs of type and name.',
    Type.Array(Type.String()),
  ),
  errorCategory: m.about(Int32, 'What kind of error it is; decides the status.'),
  grpcCodeValue: m.orNull(Int32, 'The gRPC code of the kind.'),
  retryInfo: m.nullableText('When another try may succeed.'),
  definiteAnswer: m.orNull(Type.Boolean(), 'Whether it certainly had no effect, if known.'),
})
