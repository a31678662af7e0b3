/** The routes of a table of `packages/api`, bound to their handlers below one mount point. */
import { type RouteDef, type RouteTable, unitsOf, validatorOf } from '@quorumscan/api'
import { assert } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Answer, isStream } from './bind.ts'
import type { Handlers } from './handler.ts'
import { refuseOtherMethods } from './methods.ts'
import { requestChecks } from './validation.ts'

/** Returns the caller. @throws {ScanError} UNAUTHENTICATED or PERMISSION_DENIED. */
export type Authenticate<User> = (request: {
  /** The header as received. */
  readonly authorization: string | null
  readonly auth: 'user' | 'admin'
}) => Promise<User>

export type RoutesMount<Routes extends RouteTable, User> = {
  readonly routes: Routes
  readonly handlers: Handlers<NoInfer<Routes>, NoInfer<User>>
  /** Required if a route needs a user; peers are known by their tokens and certificates. */
  readonly authenticate?: Authenticate<User>
}

/** @throws {AssertionError} If a route needs a user and `authenticate` is missing. */
export function mountRoutes<Routes extends RouteTable, User>(
  app: FastifyInstance,
  prefix: string,
  options: RoutesMount<Routes, User>,
  handlerMsMax: number,
): void {
  const methodsByUrl = new Map<string, string[]>()
  for (const route of Object.values<RouteDef>(options.routes)) {
    const url = prefix + route.path.replace(/\{(\w+)\}/g, ':$1')
    methodsByUrl.set(url, [...(methodsByUrl.get(url) ?? []), route.method])
    // The caller's types have checked it; here only the declaration counts.
    const handler = options.handlers[route.operationId] as
      | ((request: unknown) => Promise<Answer>)
      | undefined
    assert(handler !== undefined, `${route.operationId} has no handler`)
    const check = requestChecks(route)
    app.route({
      method: route.method,
      url,
      config: { route },
      ...(route.bodyBytesMax === undefined ? {} : { bodyLimit: route.bodyBytesMax }),
      onRequest: authenticator(route, options.authenticate),
      handler: app.stages.bind({
        operationId: route.operationId,
        decode: (request) => ({
          params: check.params(request.params),
          query: check.query(request.query),
          headers: check.headers(request.headers),
          body: check.body(request.body),
          user: request.user,
        }),
        unitsOf: (input) => unitsOf(route, input),
        isWaiting: route.waits ?? false,
        handle: (input, call) => handler(Object.assign(call, input)),
        isAnswer: answerCheckOf(route),
        msMax: handlerMsMax,
      }),
    })
  }
  for (const [url, methods] of methodsByUrl) refuseOtherMethods(app, url, methods)
}

function answerCheckOf({ response }: RouteDef): (body: unknown) => boolean {
  if (response === null) return (body) => body === null
  if (response === 'bytes') return isStream
  return (body) => validatorOf(response).Check(body)
}

function authenticator(route: RouteDef, authenticate: Authenticate<unknown> | undefined) {
  const { auth } = route
  if (auth === 'none') return []
  if (auth === 'peer')
    return async ({ client }: FastifyRequest) => {
      if (client.isPeer) return
      const why = 'only peers may call this, with a token or a certificate'
      throw new ScanError('UNAUTHENTICATED', why)
    }
  assert(authenticate !== undefined, `${route.operationId} needs authenticate`)
  return async (request: FastifyRequest) => {
    const authorization = request.headers.authorization ?? null
    request.user = await authenticate({ authorization, auth })
  }
}
