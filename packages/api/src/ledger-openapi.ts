/** The OpenAPI 3.1 document of the ledger interface. */
import { Type } from 'typebox'
import type { LedgerRouteDef } from './ledger-route-def.ts'
import { parameters, type Schemas, toDocument } from './openapi-document.ts'
import { type JsonObject, toSchema } from './openapi-schema.ts'
import { ledgerRoutes } from './routes/ledger.ts'
import { LedgerErrorAnswer } from './schemas/ledger/errors.ts'

/** What every operation can answer, by status (docs/upstream.md §L7.2). */
const COMMON_ERRORS: Readonly<Record<string, string>> = {
  '400': 'The request does not decode (one line of text), or it is refused.',
  '413': 'The body is too large (text), or the list has too many elements.',
  '429': 'The caller used up its budget; `retry-after` says when there is more.',
  '500': 'A bug of ours; the log has the reason under the trace id.',
  '503':
    'The participant is starting, catching up or stopping, or the operation took too long (text).',
}
const AUTH_ERRORS: Readonly<Record<string, string>> = {
  '401': 'No valid token; the log has the reason.',
  '403': 'The user may not do this; the log has the reason.',
}
const MORE_ERRORS: Readonly<Record<string, string>> = {
  '404': 'Something that the request names does not exist.',
  '409': 'Something happens at the same time, or exists already.',
  '504': 'The outcome was not seen in time.',
}

export function ledgerDocument(): JsonObject {
  return toDocument(
    Object.values<LedgerRouteDef>(ledgerRoutes),
    {
      title: 'quorumscan ledger interface',
      description:
        'Updates, contracts, commands, users and parties of a validator. `/v2/updates`, ' +
        '`/v2/commands/completions` and `/v2/state/active-contracts` are WebSockets as well: `/docs/asyncapi`. ' +
        'Integers of 64 bits are also taken as texts.',
      prefix: '/api/validator',
    },
    operation,
  )
}

function operation(route: LedgerRouteDef, schemas: Schemas): JsonObject {
  return {
    parameters: [
      ...parameters(route.params, 'path', schemas),
      ...parameters(route.query, 'query', schemas),
    ],
    // OpenAPI has no bodies of a GET; such an operation has a twin.
    ...(route.body === undefined || route.method === 'GET'
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              'application/json': { schema: toSchema(route.body, schemas, { isLenient: true }) },
            },
          },
        }),
    responses: {
      '200': {
        description: 'The answer.',
        content: { 'application/json': { schema: toSchema(route.response, schemas) } },
      },
      ...errors(route, schemas),
    },
  }
}

function errors(route: LedgerRouteDef, schemas: Schemas): JsonObject {
  const text = { 'text/plain': { schema: toSchema(Type.String(), schemas) } }
  const body = { 'application/json': { schema: toSchema(LedgerErrorAnswer, schemas) } }
  const more = (route.errorStatuses ?? []).map((status) => [status, MORE_ERRORS[status] ?? ''])
  const described: Readonly<Record<string, string>> = {
    ...COMMON_ERRORS,
    ...(route.auth === 'none' ? {} : AUTH_ERRORS),
    ...Object.fromEntries(more),
  }
  return Object.fromEntries(
    Object.entries(described).map(([status, description]) => [
      status,
      {
        description,
        content: ['400', '413', '503'].includes(status) ? { ...body, ...text } : body,
      },
    ]),
  )
}
