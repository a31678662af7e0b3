/** The AsyncAPI 3 document of the WebSockets. */
import { type Json, type JsonObject, mapMembers, type Schemas, toSchema } from './openapi-schema.ts'
import { type SocketDef, socketRoutes } from './sockets.ts'

/** The version of the documents; the same as of the package. */
export const API_VERSION = '0.1.0'
export const LICENSE = { name: 'Apache-2.0', identifier: 'Apache-2.0' }
export const BEARER = { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } }

export function asyncApiDocument(): JsonObject {
  const schemas: Schemas = {}
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'quorumscan validator, WebSockets',
      version: API_VERSION,
      description:
        'The first frame of a client is its request; the server sends the elements. An error is the last frame.',
      license: { name: LICENSE.name, url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/json',
    servers: {
      validator: {
        host: 'localhost:4601',
        protocol: 'ws',
        description: 'A validator; also under `/api/validator`.',
      },
    },
    channels: mapMembers<SocketDef, Json>(socketRoutes, (each) => channel(each, schemas)),
    operations: mapMembers<SocketDef, Json>(socketRoutes, operation),
    components: { schemas: alone(sorted(schemas)), securitySchemes: BEARER },
  }
}

function channel(socket: SocketDef, schemas: Schemas): JsonObject {
  const isLenient = socket.path.startsWith('/v2/')
  const message = (name: string, payload: Json) => ({ name, title: name, payload: alone(payload) })
  return {
    address: socket.path,
    description: socket.description,
    messages: {
      request: message('The first frame', toSchema(socket.request, schemas, { isLenient })),
      element: message('A frame of the server', toSchema(socket.element, schemas)),
      error: message('Its last frame', toSchema(socket.error, schemas)),
    },
    bindings: { ws: { method: 'GET', bindingVersion: '0.1.0' } },
  }
}

function operation({ summary, auth }: SocketDef, name: string): JsonObject {
  const channel = { $ref: `#/channels/${name}` }
  const message = (key: string) => ({ $ref: `#/channels/${name}/messages/${key}` })
  return {
    action: 'receive',
    channel,
    summary,
    ...(auth === 'none' ? {} : { security: [{ $ref: '#/components/securitySchemes/bearer' }] }),
    messages: [message('request')],
    reply: { channel, messages: [message('element'), message('error')] },
  }
}

/** Wraps references, which have no siblings in the schemas of AsyncAPI. */
function alone(json: Json): Json {
  if (Array.isArray(json)) return json.map(alone)
  if (typeof json !== 'object' || json === null) return json
  const { $ref, ...siblings } = json as JsonObject
  if (typeof $ref === 'string' && Object.keys(siblings).length > 0)
    return { allOf: [{ $ref }], ...siblings }
  return mapMembers(json as JsonObject, alone)
}

export function sorted(schemas: Schemas): JsonObject {
  return Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)))
}
