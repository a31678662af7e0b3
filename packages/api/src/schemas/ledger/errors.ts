/** The body of errors under `/v2` (docs/upstream.md §L7.1). */
import { Type } from 'typebox'
import * as m from '../members.ts'
import { Int32 } from './relaxed.ts'

export const LedgerErrorAnswer = m.component('JsCantonError', 'A refusal.', {
  code: m.string('UPPER_SNAKE, permanent; `NA` where the log alone has the reason.'),
  cause: m.string('A sentence for a person.'),
  correlationId: m.nullableText('The submission id, of errors of submissions.'),
  traceId: m.nullableText('Under which the log has more.'),
  context: m.record('Facts about the error.', Type.String()),
  resources: m.array('What it is about, as pairs of type and name.', Type.Array(Type.String())),
  errorCategory: m.about(Int32, 'What kind of error it is; decides the status.'),
  grpcCodeValue: m.orNull(Int32, 'The gRPC code of the kind.'),
  retryInfo: m.nullableText('After what time trying again may help.'),
  definiteAnswer: m.orNull(Type.Boolean(), 'Whether it certainly had no effect, if known.'),
})
