/**
 * OpenAPI 3.1 documents from route tables. TypeBox schemas are JSON Schema already; what is done here is
 * listing errors by status.
 */
import { catalogue, type ErrorCode } from '@quorumscan/errors'
import { asyncApiDocument } from './asyncapi.ts'
import { errorCodesOf } from './error-codes.ts'
import { type HeaderGroup, headerGroups } from './header-groups.ts'
import { ledgerDocument } from './ledger-openapi.ts'
import { parameters, type Schemas, toDocument } from './openapi-document.ts'
import { type JsonObject, toSchema } from './openapi-schema.ts'
import type { RouteDef } from './route-def.ts'
import { scanRoutes } from './routes/scan.ts'
import { synchronizerRoutes } from './routes/synchronizer.ts'
import { validatorRoutes } from './routes/validator.ts'
import { ErrorAnswer } from './schemas/errors.ts'

const RETRY_AFTER = {
  description: 'Seconds after which trying again may help.',
  schema: { type: 'integer' },
} as const

const UNAVAILABLE = '503'

const BYTES = { 'application/octet-stream': {} }

type Name = 'scan' | 'validator' | 'synchronizer' | 'ledger' | 'asyncapi'

/** The documents that are generated, committed and served, by the name of their file. */
export function apiDocuments(): Readonly<Record<Name, JsonObject>> {
  return {
    scan: toOpenApi(scanRoutes, {
      title: 'quorumscan scan node',
      description: 'Name lookups at one ledger offset of one super-validator.',
      prefix: '/api/scan',
    }),
    validator: toOpenApi(validatorRoutes, {
      title: 'quorumscan validator',
      description: 'Name entries, wallet, and lookups that enough scan nodes agree on.',
      prefix: '/api/validator',
    }),
    synchronizer: toOpenApi(synchronizerRoutes, {
      title: 'quorumscan synchronizer',
      description: 'Orders the log; for validators and scan nodes.',
      prefix: null,
    }),
    ledger: ledgerDocument(),
    asyncapi: asyncApiDocument(),
  }
}

function toOpenApi(
  routes: Readonly<Record<string, RouteDef>>,
  about: { readonly title: string; readonly description: string; readonly prefix: string | null },
): JsonObject {
  return toDocument(Object.values(routes), { ...about, headers: allHeaders(routes) }, operation)
}

function operation(route: RouteDef, schemas: Schemas): JsonObject {
  return {
    parameters: [
      ...parameters(route.params, 'path', schemas),
      ...parameters(route.query, 'query', schemas),
      ...parameters(route.headers, 'header', schemas),
    ],
    ...requestBody(route, schemas),
    responses: { '200': success(route, schemas), ...failures(route, schemas) },
  }
}

function requestBody(route: RouteDef, schemas: Schemas): JsonObject {
  if (route.body === undefined) return {}
  const required = route.bodyOptional !== true
  return { requestBody: { required, content: contentOf(route.body, schemas) } }
}

function success(route: RouteDef, schemas: Schemas): JsonObject {
  const content = {
    ...contentOf(route.response, schemas),
    ...formsOf(route.otherForms, schemas),
  }
  return {
    description: 'The answer.',
    headers: headersOf(['head', ...(route.responseHeaders ?? [])]),
    ...(Object.keys(content).length === 0 ? {} : { content }),
  }
}

function contentOf(body: RouteDef['response'], schemas: Schemas): JsonObject {
  if (body === null) return {}
  return body === 'bytes' ? BYTES : formsOf({ 'application/json': body }, schemas)
}

function formsOf(forms: RouteDef['otherForms'], schemas: Schemas): JsonObject {
  const entries = Object.entries(forms ?? {})
  return Object.fromEntries(
    entries.map(([mediaType, form]) => [mediaType, { schema: toSchema(form, schemas) }]),
  )
}

function failures(route: RouteDef, schemas: Schemas): JsonObject {
  const codesByStatus: Record<string, ErrorCode[]> = {}
  for (const code of errorCodesOf(route)) {
    const status = String(catalogue[code].httpStatus)
    codesByStatus[status] = [...(codesByStatus[status] ?? []), code]
  }
  const content = contentOf(ErrorAnswer, schemas)
  return Object.fromEntries(
    Object.entries(codesByStatus).map(([status, ofStatus]) => [
      status,
      {
        description: ofStatus.map((code) => `${code}: ${catalogue[code].doc}`).join('\n\n'),
        headers: {
          ...headersOf(['head']),
          ...(ofStatus.some((code) => catalogue[code].retryable)
            ? headerRefs(['retry-after'])
            : {}),
        },
        content:
          status === UNAVAILABLE
            ? { ...content, ...formsOf(route.unavailableForms, schemas) }
            : content,
      },
    ]),
  )
}

function headersOf(groups: readonly HeaderGroup[]): JsonObject {
  return headerRefs(groups.flatMap((group) => Object.keys(headerGroups[group])))
}

function headerRefs(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/** Of the groups that the routes have; a header means in each document what its routes say by it. */
function allHeaders(routes: Readonly<Record<string, RouteDef>>): JsonObject {
  const groups = Object.values(routes).flatMap(({ responseHeaders = [] }) => responseHeaders)
  const schemas = (['head', ...groups] as const).flatMap((group) =>
    Object.entries(headerGroups[group]),
  )
  const headers = schemas.map(([name, schema]) => {
    const { description = '', ...json } = toSchema(schema, {}) as JsonObject
    return [name, { description, schema: json }]
  })
  return { ...Object.fromEntries(headers), 'retry-after': RETRY_AFTER }
}
