/**
 * The documents: OpenAPI 3.1 from route tables, AsyncAPI from the table of WebSockets. TypeBox schemas are JSON Schema
 * already; this module adds operations, and errors by status.
 */
import { catalogue, type ErrorCode } from '@quorumscan/errors'
import { type TObject, type TSchema, Type } from 'typebox'
import { API_VERSION, asyncApiDocument, BEARER, LICENSE, sorted } from './asyncapi.ts'
import { type HeaderGroup, headerGroups } from './header-groups.ts'
import { type Json, type JsonObject, mapMembers, type Schemas, toSchema } from './openapi-schema.ts'
import { errorCodesOf, type LedgerRouteDef, type RouteDef, type RouteTable } from './route-def.ts'
import { ledgerRoutes } from './routes/ledger.ts'
import { scanRoutes } from './routes/scan.ts'
import { synchronizerRoutes } from './routes/synchronizer.ts'
import { validatorRoutes } from './routes/validator.ts'
import { ErrorAnswer, LedgerErrorAnswer } from './schemas/errors.ts'

type Route = RouteDef | LedgerRouteDef

const PEER = { peer: { type: 'apiKey', in: 'header', name: 'x-peer-token' } }
const UNAVAILABLE = '503'

/** The documents that are generated, committed and served, by the name of their file. */
export function apiDocuments() {
  return {
    scan: toDocument(scanRoutes, {
      title: 'quorumscan scan node',
      description: 'Name lookups at one ledger offset of one super-validator.',
      prefix: '/api/scan',
    }),
    validator: toDocument(validatorRoutes, {
      title: 'quorumscan validator',
      description: 'Name entries, wallet, and lookups on which enough scan nodes agree.',
      prefix: '/api/validator',
    }),
    synchronizer: toDocument(synchronizerRoutes, {
      title: 'quorumscan synchronizer',
      description: 'Orders the log; for validators and scan nodes.',
      prefix: null,
    }),
    ledger: toDocument(ledgerRoutes, {
      title: 'quorumscan ledger interface',
      description:
        'Updates, contracts, commands, users and parties of a validator. `/v2/updates`, ' +
        '`/v2/commands/completions` and `/v2/state/active-contracts` are WebSockets as well: `/docs/asyncapi`. ' +
        'Integers of 64 bits are also accepted as strings.',
      prefix: '/api/validator',
    }),
    asyncapi: asyncApiDocument(),
  } as const satisfies Readonly<Record<string, JsonObject>>
}

function toDocument(
  table: RouteTable<Route>,
  about: {
    readonly title: string
    readonly description: string
    /** The second mount point (D-3); null for none. */
    readonly prefix: string | null
  },
): JsonObject {
  const { title, description, prefix } = about
  const routes = Object.values(table)
  const schemas: Schemas = {}
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of routes)
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: operation(route, schemas),
    }
  return {
    openapi: '3.1.0',
    info: { title, version: API_VERSION, description, license: LICENSE },
    servers: [{ url: '/' }, ...(prefix === null ? [] : [{ url: prefix }])],
    paths,
    components: {
      schemas: sorted(schemas),
      ...(routes.some(isLedgerRoute) ? {} : { headers: allHeaders(routes) }),
      ...securitySchemesOf(routes),
    },
  }
}

function isLedgerRoute(route: Route): route is LedgerRouteDef {
  return !('errors' in route)
}

function operation(route: Route, schemas: Schemas): JsonObject {
  const { headers }: Partial<RouteDef> = route
  const refusals = isLedgerRoute(route) ? ledgerFailures(route, schemas) : failures(route, schemas)
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    security: securityOf(route),
    parameters: [
      ...parameters(route.params, 'path', schemas),
      ...parameters(route.query, 'query', schemas),
      ...parameters(headers, 'header', schemas),
    ],
    ...requestBody(route, schemas),
    responses: { '200': success(route, schemas), ...refusals },
  }
}

function securityOf({ auth }: Route): JsonObject[] {
  if (auth === 'none') return []
  return [auth === 'peer' ? { peer: [] } : { bearer: [] }]
}

function securitySchemesOf(routes: readonly Route[]): JsonObject {
  const used = routes.flatMap(securityOf).flatMap((one) => Object.keys(one))
  const schemes = Object.entries({ ...BEARER, ...PEER }).filter(([name]) => used.includes(name))
  return schemes.length === 0 ? {} : { securitySchemes: Object.fromEntries(schemes) }
}

function parameters(
  part: TObject | undefined,
  place: 'path' | 'query' | 'header',
  schemas: Schemas,
): Json[] {
  const required = new Set(part?.required as readonly string[] | undefined)
  // OpenAPI has no parameter `accept`: it follows from the media types of the answers.
  const named = Object.entries(part?.properties ?? {}).filter(([name]) => name !== 'accept')
  return named.map(([name, member]) => {
    const { description = null, ...schema } = toSchema(member, schemas) as JsonObject
    const about = description === null ? {} : { description }
    return { name, in: place, required: required.has(name), ...about, schema }
  })
}

function requestBody(route: Route, schemas: Schemas): JsonObject {
  const { body, bodyOptional = false }: Partial<RouteDef> = route
  // OpenAPI has no bodies of a GET; such an operation exists as a POST, too.
  if (body === undefined || route.method === 'GET') return {}
  const content = contentOf(body, schemas, { isLenient: isLedgerRoute(route) })
  return { requestBody: { required: !bodyOptional, content } }
}

function success(route: Route, schemas: Schemas): JsonObject {
  const { responseHeaders = [], otherForms }: Partial<RouteDef> = route
  const content = { ...contentOf(route.response, schemas), ...formsOf(otherForms, schemas) }
  return {
    description: 'The answer.',
    ...(isLedgerRoute(route) ? {} : { headers: headersOf(['common', ...responseHeaders]) }),
    ...(Object.keys(content).length === 0 ? {} : { content }),
  }
}

function contentOf(body: RouteDef['response'], schemas: Schemas, options = {}): JsonObject {
  if (body === null) return {}
  if (body === 'bytes') return { 'application/octet-stream': {} }
  return formsOf({ 'application/json': body }, schemas, options)
}

function formsOf(forms: Readonly<Record<string, TSchema>> = {}, schemas: Schemas, options = {}) {
  return mapMembers(forms, (form) => ({ schema: toSchema(form, schemas, options) }))
}

function failures(route: RouteDef, schemas: Schemas): JsonObject {
  const codesByStatus: Record<string, ErrorCode[]> = {}
  for (const code of errorCodesOf(route)) {
    const status = String(catalogue[code].httpStatus)
    codesByStatus[status] = [...(codesByStatus[status] ?? []), code]
  }
  const content = contentOf(ErrorAnswer, schemas)
  return mapMembers(codesByStatus, (codes, status) => {
    const isRetried = codes.some((code) => catalogue[code].retryable)
    const otherForms = status === UNAVAILABLE ? route.unavailableForms : {}
    return {
      description: codes.map((code) => `${code}: ${catalogue[code].doc}`).join('\n\n'),
      headers: { ...headersOf(['common']), ...(isRetried ? headerRefs(['retry-after']) : {}) },
      content: { ...content, ...formsOf(otherForms, schemas) },
    }
  })
}

/** Errors of operations of the ledger interface, by status (docs/upstream.md §L7.2): those of every operation. */
const COMMON_ERRORS: Readonly<Record<string, string>> = {
  '400': 'The request does not decode (one line of text), or it is refused.',
  '413': 'The body is too large (text), or the list has too many elements.',
  '429': 'The caller exceeded its rate limit; `retry-after` has the time to wait.',
  '500': 'A defect; the process logs the reason under the trace id.',
  '503':
    'The participant is starting, catching up or stopping, or the operation took too long (text).',
}
/** Errors of operations that need a token. */
const AUTH_ERRORS = {
  '401': 'No valid token; the process logs the reason.',
  '403': 'The user may not do this; the process logs the reason.',
}
/** Errors of operations that list the status. */
const MORE_ERRORS = {
  404: 'A resource of the request does not exist.',
  409: 'A conflict with a concurrent request, or with an existing resource.',
  504: 'The outcome was not seen in time.',
}

function ledgerFailures({ auth, errorStatuses = [] }: LedgerRouteDef, schemas: Schemas) {
  const json = { 'application/json': LedgerErrorAnswer }
  const described: Readonly<Record<string, string>> = {
    ...COMMON_ERRORS,
    ...(auth === 'none' ? {} : AUTH_ERRORS),
    ...Object.fromEntries(errorStatuses.map((status) => [status, MORE_ERRORS[status]])),
  }
  return mapMembers(described, (description, status) => {
    const isAlsoText = ['400', '413', '503'].includes(status)
    const forms = isAlsoText ? { ...json, 'text/plain': Type.String() } : json
    return { description, content: formsOf(forms, schemas) }
  })
}

function headersOf(groups: readonly HeaderGroup[]): JsonObject {
  return headerRefs(groups.flatMap((group) => Object.keys(headerGroups[group])))
}

function headerRefs(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/** The headers of all groups of the routes; the meaning of a header may differ between documents. */
function allHeaders(routes: readonly Partial<RouteDef>[]): JsonObject {
  const groups = routes.flatMap(({ responseHeaders = [] }) => responseHeaders)
  const schemas = (['common', ...groups] as const).flatMap((group) =>
    Object.entries(headerGroups[group]),
  )
  const headers = schemas.map(([name, schema]) => {
    const { description = '', ...json } = toSchema(schema, {}) as JsonObject
    return [name, { description, schema: json }]
  })
  const retryAfter = {
    description: 'Seconds after which another try may succeed.',
    schema: { type: 'integer' },
  }
  return { ...Object.fromEntries(headers), 'retry-after': retryAfter }
}
