/** The body of errors under `/v2` (docs/upstream.md §L7.1). */
import { Type } from 'typebox'
import { about, component, nullable } from '../members.ts'
import { Int32 } from './relaxed.ts'

const nullableText = (description: string) => about(nullable(Type.String()), description)

export const LedgerErrorAnswer = component('JsCantonError', 'A refusal.', {
  code: Type.String({
    description: 'UPPER_SNAKE, permanent; `NA` where the log alone has the reason.',
  }),
  cause: Type.String({ description: 'A sentence for a person.' }),
  correlationId: nullableText('The submission id, of errors of submissions.'),
  traceId: nullableText('Under which the log has more.'),
  context: Type.Record(Type.String(), Type.String(), { description: 'Facts about the error.' }),
  resources: Type.Array(Type.Array(Type.String()), {
    description: 'What it is about, as pairs of type and name.',
  }),
  errorCategory: about(Int32, 'What kind of error it is; decides the status.'),
  grpcCodeValue: about(nullable(Int32), 'The gRPC code of the kind.'),
  retryInfo: nullableText('After what time trying again may help.'),
  definiteAnswer: about(nullable(Type.Boolean()), 'Whether it certainly had no effect, if known.'),
})
