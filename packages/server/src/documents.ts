/** Documents that a process serves about itself: OpenAPI, AsyncAPI. */
import type { FastifyInstance } from 'fastify'
import { corsHeaders } from './cors.ts'
import { refuseOtherMethods } from './methods.ts'
import { securityHeaders } from './security-headers.ts'

/** Units of D-33: a document has hundreds of kilobytes. */
const DOCUMENT_UNITS = 10

/** The documents by path; each is made at its first request. */
export type Documents = Readonly<Record<`/${string}`, () => object>>

/** Serves each document below each of the mount points. JSON is YAML too, which some clients expect. */
export function mountDocuments(
  app: FastifyInstance,
  prefixes: readonly string[],
  documents: Documents,
): void {
  for (const [path, make] of Object.entries(documents)) {
    let text: string | null = null
    for (const prefix of prefixes) {
      app.get(`${prefix}${path}`, (request, reply) => {
        request.client.charge(DOCUMENT_UNITS - 1)
        text ??= JSON.stringify(make())
        reply
          .headers({ ...corsHeaders, ...securityHeaders })
          .type('application/json; charset=utf-8')
          .send(text)
      })
      refuseOtherMethods(app, `${prefix}${path}`, ['GET'])
    }
  }
}
