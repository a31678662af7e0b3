/** The body of errors under `/v2` (docs/upstream.md §L7.1). */
import { Type } from 'typebox'
import { Int32, nullable } from './relaxed.ts'

export const LedgerErrorAnswer = Type.Object(
  {
    code: Type.String(),
    cause: Type.String(),
    correlationId: nullable(Type.String()),
    traceId: nullable(Type.String()),
    context: Type.Record(Type.String(), Type.String()),
    resources: Type.Array(Type.Array(Type.String()), {
      description: 'Pairs of type and name.',
    }),
    errorCategory: Int32,
    grpcCodeValue: nullable(Int32),
    retryInfo: nullable(Type.String()),
    definiteAnswer: nullable(Type.Boolean()),
  },
  { title: 'JsCantonError' },
)
