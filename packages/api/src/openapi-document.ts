/** What the OpenAPI documents have in common, whatever table they are made of. */
import type { TObject } from 'typebox'
import { type Json, type JsonObject, toSchema } from './openapi-schema.ts'

/** The version of the documents; the same as of the package. */
export const API_VERSION = '0.1.0'

export const LICENSE = { name: 'Apache-2.0', identifier: 'Apache-2.0' }

export type Schemas = Record<string, Json>

type Routes = readonly {
  readonly method: string
  readonly path: string
  readonly tag: string
  readonly auth: 'none' | 'peer' | 'user' | 'admin'
  readonly operationId: string
  readonly summary: string
  readonly description?: string
}[]

type About = {
  readonly title: string
  readonly description: string
  /** The second mount point (D-3); null for none. */
  readonly prefix: string | null
  readonly headers?: JsonObject
}

/** A document of the routes; `operation` gives parameters, body and answers of each. */
export function toDocument<Table extends Routes>(
  routes: Table,
  about: About,
  operation: (route: Table[number], schemas: Schemas) => JsonObject,
): JsonObject {
  const schemas: Schemas = {}
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of routes) {
    paths[route.path] ??= {}
    const methods = paths[route.path] as Record<string, Json>
    methods[route.method.toLowerCase()] = {
      operationId: route.operationId,
      tags: [route.tag],
      summary: route.summary,
      ...(route.description === undefined ? {} : { description: route.description }),
      security: securityOf(route.auth),
      ...operation(route, schemas),
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: about.title,
      version: API_VERSION,
      description: about.description,
      license: LICENSE,
    },
    servers: [{ url: '/' }, ...(about.prefix === null ? [] : [{ url: about.prefix }])],
    paths,
    components: {
      schemas: sorted(schemas),
      ...(about.headers === undefined ? {} : { headers: about.headers }),
      ...securitySchemesOf(routes),
    },
  }
}

export const BEARER = { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } }
const PEER = { peer: { type: 'apiKey', in: 'header', name: 'x-peer-token' } }

function securityOf(auth: Routes[number]['auth']): JsonObject[] {
  if (auth === 'none') return []
  return [auth === 'peer' ? { peer: [] } : { bearer: [] }]
}

function securitySchemesOf(routes: Routes): JsonObject {
  const used = routes.flatMap(({ auth }) => securityOf(auth).flatMap((one) => Object.keys(one)))
  const schemes = Object.entries({ ...BEARER, ...PEER }).filter(([name]) => used.includes(name))
  return schemes.length === 0 ? {} : { securitySchemes: Object.fromEntries(schemes) }
}

export function sorted(schemas: Schemas): JsonObject {
  return Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)))
}

export function parameters(
  part: TObject | undefined,
  place: 'path' | 'query' | 'header',
  schemas: Schemas,
): Json[] {
  const required = new Set(part?.required as readonly string[] | undefined)
  return (
    Object.entries(part?.properties ?? {})
      // OpenAPI knows no such parameter: the media types of the answers say it.
      .filter(([name]) => name !== 'accept')
      .map(([name, schema]) => {
        const { description = null, ...json } = toSchema(schema, schemas) as JsonObject
        return {
          name,
          in: place,
          required: required.has(name),
          ...(description === null ? {} : { description }),
          schema: json,
        }
      })
  )
}
