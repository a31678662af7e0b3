/**
 * Requests for the errors that every server adds to those that a route declares (`errorCodesOf`): the request that
 * succeeds, with one part made invalid.
 */

import { errorCodesOf, type RouteDef } from '@quorumscan/api'
import { memberOf, membersOf } from '@quorumscan/verifier'
import { type Case, type Cause, cannot, type Input, isReachable, type Unreachable } from './case.ts'
import type { AnyRoute } from './send-case.ts'
import type { World } from './world.ts'

const SERVER_TEST = 'packages/server/src/server.test.ts'
const BODY_BYTES_MAX = 1024 * 1024

type MakeInvalid = (request: Input, route: RouteDef, world: World | null) => Input | Unreachable

const invalidRequests: Readonly<Record<string, MakeInvalid>> = {
  MALFORMED_REQUEST: (request, { params }) => {
    const [first] = Object.keys(params?.properties ?? {})
    if (first === undefined) return cannot('it is refused before routing', SERVER_TEST)
    return { ...request, rawParams: { [first]: '%zz' } }
  },
  INTERNAL: cannotBe('a defect', 'packages/server/src/observability.test.ts'),
  RATE_LIMITED: cannotBe('a client above its rate limit', SERVER_TEST),
  OVERLOADED: cannotBe('an overloaded server', SERVER_TEST),
  NOT_READY: cannotBe('a process that is starting', 'packages/server/src/lifecycle.test.ts'),
  INVALID_ARGUMENT: withWrongMember,
  BODY_TOO_LARGE: (request, { bodyBytesMax = BODY_BYTES_MAX }) => ({
    ...request,
    body: new Uint8Array(bodyBytesMax + 1),
    headers: { ...request.headers, 'content-type': 'application/json' },
  }),
  MALFORMED_BODY: (request, { body }) =>
    body === 'bytes' ? cannot('any bytes are a valid body') : { ...request, ...json('{"') },
  UNSUPPORTED_MEDIA_TYPE: (request) => ({
    ...request,
    body: 'x=1',
    headers: { ...request.headers, 'content-type': 'application/x-www-form-urlencoded' },
  }),
  UNAUTHENTICATED: (request) => ({ ...request, token: null }),
  PERMISSION_DENIED: (request, { auth }, world) => ({
    ...request,
    token: (auth === 'admin' ? world?.user.token : world?.deactivatedToken) ?? null,
  }),
}

/** Codes for the statuses of the ledger interface. */
const ledgerCodes: Readonly<Record<string, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
}

/** The cause of a code or status: the request that succeeds, with the one invalid part that causes it. */
export function added(
  name: string,
  { route, of }: { readonly route: AnyRoute; readonly of: Case<string | number> },
): Cause {
  const wrong = invalidRequests[ledgerCodes[name] ?? name]
  if (wrong === undefined) throw new Error(`no invalid request causes ${name}`)
  const { success } = of
  const def = route as RouteDef
  // Only the route decides whether a request can cause it.
  const probe = wrong({}, def, null)
  if ('unreachable' in probe) return probe
  if (!isReachable(success)) return async (world) => wrong({}, def, world) as Input
  return async (world) => wrong(await success(world), def, world) as Input
}

/** The statuses 400, 401 and 403 that a route of the ledger interface can return. */
export function addedStatuses({ auth, ...route }: AnyRoute): readonly string[] {
  const { params, query, body } = route as Partial<RouteDef>
  const takesInput = [params, query, body].some((part) => part !== undefined)
  return [...(takesInput ? ['400'] : []), ...(auth === 'none' ? [] : ['401', '403'])]
}

/** Codes that the route can return and does not declare. */
export function addedCodes(route: RouteDef): readonly string[] {
  const own: readonly string[] = route.errors
  return errorCodesOf(route).filter((code) => !own.includes(code))
}

function cannotBe(reason: string, testedBy: string): MakeInvalid {
  return () => cannot(reason, testedBy)
}

function json(body: string): Input {
  return { body, headers: { 'content-type': 'application/json' } }
}

/** The request with the first part invalid whose schema refuses any value. */
function withWrongMember(request: Input, route: RouteDef): Input | Unreachable {
  for (const name of ['x-read-at-offset', 'x-min-offset'])
    if (name in (route.headers?.properties ?? {}))
      return { ...request, headers: { ...request.headers, [name]: 'x' } }
  for (const [name, schema] of Object.entries(route.query?.properties ?? {}))
    if (['integer', 'boolean'].includes(typeOf(schema)))
      return { ...request, query: { ...request.query, [name]: 'x' } }
  const [param] = Object.entries(route.params?.properties ?? {})
  if (param !== undefined) {
    const wrong = typeOf(param[1]) === 'integer' ? 'x' : 'x'.repeat(3_000)
    return { ...request, params: { ...request.params, [param[0]]: wrong } }
  }
  const [member] = Object.keys(membersOf(request.body ?? {}))
  if (member !== undefined)
    return { ...request, body: { ...membersOf(request.body), [member]: { wrong: true } } }
  const [optional] = Object.keys(memberOf(route.body, 'properties') ?? {})
  if (optional !== undefined) return { ...request, body: { [optional]: { wrong: true } } }
  return cannot('no part of it can be invalid')
}

const typeOf = (schema: unknown) => String(memberOf(schema, 'type'))
