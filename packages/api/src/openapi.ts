/**
 * OpenAPI 3.1 documents from route tables. TypeBox schemas are JSON Schema already; what is done here is
 * grouping by path and listing errors by status.
 */
import { catalogue, type ErrorCode } from '@quorumscan/errors'
import type { TObject } from 'typebox'
import { errorCodesOf } from './error-codes.ts'
import { type HeaderGroup, headerGroups } from './header-groups.ts'
import { ledgerDocument } from './ledger-openapi.ts'
import { type Json, type JsonObject, toSchema } from './openapi-schema.ts'
import type { RouteDef, RouteTable } from './route-def.ts'
import { scanRoutes } from './routes/scan.ts'
import { validatorRoutes } from './routes/validator.ts'
import { ErrorAnswer } from './schemas/errors.ts'
import { VERIFIED_MEDIA_TYPE } from './schemas/verified.ts'

/** The version of the documents; the same as of the package. */
export const API_VERSION = '0.1.0'

const RETRY_AFTER = { schema: { type: 'integer', description: 'Seconds.' } } as const

/** The documents that are generated and committed, by the name of their file. */
export function openApiDocuments(): Readonly<Record<'scan' | 'validator' | 'ledger', JsonObject>> {
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
    ledger: ledgerDocument(API_VERSION),
  }
}

function toOpenApi(
  routes: RouteTable,
  about: { readonly title: string; readonly description: string; readonly prefix: string },
): JsonObject {
  const schemas: Record<string, Json> = {}
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of Object.values(routes)) {
    const methods = paths[route.path] ?? {}
    paths[route.path] = methods
    methods[route.method.toLowerCase()] = operation(route, schemas)
  }
  return {
    openapi: '3.1.0',
    info: { title: about.title, version: API_VERSION, description: about.description },
    // D-3: one route table, mounted twice.
    servers: [{ url: '/' }, { url: about.prefix }],
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
      headers: allHeaders(),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      },
    },
  }
}

function operation(route: RouteDef, schemas: Record<string, Json>): JsonObject {
  const body = route.body
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(route.auth === 'none' ? {} : { security: [{ bearer: [] }] }),
    parameters: [
      ...parameters(route.params, 'path', schemas),
      ...parameters(route.query, 'query', schemas),
      ...parameters(route.headers, 'header', schemas),
    ],
    ...(typeof body === 'object'
      ? {
          requestBody: {
            required: route.bodyOptional !== true,
            content: { 'application/json': { schema: toSchema(body, schemas) } },
          },
        }
      : {}),
    responses: { '200': success(route, schemas), ...failures(route, schemas) },
  }
}

function parameters(
  part: TObject | undefined,
  place: 'path' | 'query' | 'header',
  schemas: Record<string, Json>,
): Json[] {
  const required = new Set(part?.required as readonly string[] | undefined)
  return (
    Object.entries(part?.properties ?? {})
      // OpenAPI knows no such parameter: the media types of the answers say it.
      .filter(([name]) => name !== 'accept')
      .map(([name, schema]) => ({
        name,
        in: place,
        required: required.has(name),
        schema: toSchema(schema, schemas),
      }))
  )
}

function success(route: RouteDef, schemas: Record<string, Json>): JsonObject {
  return {
    description: 'The answer.',
    headers: headersOf(['head', ...(route.responseHeaders ?? [])]),
    ...(route.response === null
      ? {}
      : {
          content: {
            'application/json': { schema: toSchema(route.response, schemas) },
            ...verifiedContent(route, schemas),
          },
        }),
  }
}

function verifiedContent(route: RouteDef, schemas: Record<string, Json>): JsonObject {
  const { verifiedResponse } = route
  if (verifiedResponse === undefined) return {}
  return { [VERIFIED_MEDIA_TYPE]: { schema: toSchema(verifiedResponse, schemas) } }
}

function failures(route: RouteDef, schemas: Record<string, Json>): JsonObject {
  const codesByStatus: Record<string, ErrorCode[]> = {}
  for (const code of errorCodesOf(route)) {
    const status = String(catalogue[code].httpStatus)
    codesByStatus[status] = [...(codesByStatus[status] ?? []), code]
  }
  const content = { 'application/json': { schema: toSchema(ErrorAnswer, schemas) } }
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
        // Absence is an answer too, and can be proved.
        content: ofStatus.includes('ENTRY_NOT_FOUND')
          ? { ...content, ...verifiedContent(route, schemas) }
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

function allHeaders(): JsonObject {
  const schemas = Object.values(headerGroups).flatMap((group) => Object.entries(group))
  const headers = schemas.map(([name, schema]) => [name, { schema: toSchema(schema, {}) }])
  return { ...Object.fromEntries(headers), 'retry-after': RETRY_AFTER }
}
