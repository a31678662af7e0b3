/**
 * Methods that a path does not have: 405 with `Allow` on a known path, 404 on an unknown one, and 501 for a method that no
 * operation of the product has (RFC 9110 §15.6.2). Fastify would answer some of them with 400, and others with 404.
 */
import { ScanError } from '@quorumscan/errors'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { UNKNOWN_METHOD } from './errors.ts'

/** The methods of all operations. OPTIONS is answered for every path. */
const METHODS = ['DELETE', 'GET', 'HEAD', 'PATCH', 'POST', 'PUT']

/** @throws {ScanError} METHOD_NOT_IMPLEMENTED. */
export function assertKnownMethod(method: string): void {
  if (!METHODS.includes(method)) throw UNKNOWN_METHOD
}

/**
 * Refuses the other methods of a path, before a body is read.
 *
 * @param methods - Those that have a route.
 * @param fail - Answers with this error and these headers. Default: in the form of D-6.
 */
export function refuseOtherMethods(
  app: FastifyInstance,
  url: string,
  methods: readonly string[],
  fail = (reply: FastifyReply, error: ScanError, headers: Readonly<Record<string, string>>) =>
    app.stages.responder.fail(reply, error, { headers }),
): void {
  const allowed = methods.includes('GET') ? ['HEAD', ...methods] : methods
  const allow = allowed.join(', ')
  app.route({
    method: METHODS.filter((method) => !allowed.includes(method)),
    url,
    async onRequest(_request, reply) {
      const refusal = new ScanError('METHOD_NOT_ALLOWED', `allowed methods: ${allow}`)
      return fail(reply, refusal, { allow })
    },
    handler: async () => {},
  })
}
