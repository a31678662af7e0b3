/**
 * What every server adds to the errors that a route declares (`errorCodesOf`): provoked by the request that succeeds,
 * with one thing about it wrong.
 */
import { errorCodesOf, type RouteDef } from '@quorumscan/api'
import type { AnyRoute } from './ask.ts'
import { type Asked, type Case, cannot, isReachable, type Unreachable, type Way } from './case.ts'
import type { World } from './world.ts'

const SERVER_TEST = 'packages/server/src/server.test.ts'
const BODY_BYTES_MAX = 1024 * 1024

type Wrong = (asked: Asked, route: RouteDef, world: World | null) => Asked | Unreachable

const wrongs: Readonly<Record<string, Wrong>> = {
  MALFORMED_REQUEST: (asked, { params }) => {
    const [first] = Object.keys(params?.properties ?? {})
    if (first === undefined) return cannot('it is refused before its route is known', SERVER_TEST)
    return { ...asked, rawParams: { [first]: '%zz' } }
  },
  INTERNAL: cannotBe('a defect', 'packages/server/src/observability.test.ts'),
  RATE_LIMITED: cannotBe('a client that spent its budget', SERVER_TEST),
  OVERLOADED: cannotBe('a server with too much to do', SERVER_TEST),
  NOT_READY: cannotBe('a process that is starting', 'packages/server/src/lifecycle.test.ts'),
  INVALID_ARGUMENT: withWrongMember,
  BODY_TOO_LARGE: (asked, { bodyBytesMax = BODY_BYTES_MAX }) => ({
    ...asked,
    body: new Uint8Array(bodyBytesMax + 1),
    headers: { ...asked.headers, 'content-type': 'application/json' },
  }),
  MALFORMED_BODY: (asked, { body }) =>
    body === 'bytes' ? cannot('any bytes are a body here') : { ...asked, ...json('{"') },
  UNSUPPORTED_MEDIA_TYPE: (asked) => ({
    ...asked,
    body: 'x=1',
    headers: { ...asked.headers, 'content-type': 'application/x-www-form-urlencoded' },
  }),
  UNAUTHENTICATED: (asked) => ({ ...asked, token: null }),
  PERMISSION_DENIED: (asked, { auth }, world) => ({
    ...asked,
    token: (auth === 'admin' ? world?.user.token : world?.deactivatedToken) ?? null,
  }),
}

/** Statuses of the ledger interface, as the codes that they stand for. */
const ledgerCodes: Readonly<Record<string, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
}

/** The request that succeeds with the one thing wrong that this code, or status, is answered for. */
export function added(
  name: string,
  { route, of }: { readonly route: AnyRoute; readonly of: Case<string | number> },
): Way {
  const wrong = wrongs[ledgerCodes[name] ?? name]
  if (wrong === undefined) throw new Error(`nothing is known that ${name} answers`)
  const { success } = of
  const def = route as RouteDef
  // Whether it can be met depends on the route alone.
  const probe = wrong({}, def, null)
  if ('unreachable' in probe) return probe
  if (!isReachable(success)) return async (world) => wrong({}, def, world) as Asked
  return async (world) => wrong(await success(world), def, world) as Asked
}

/** Of a route of the ledger interface: those of its 400, 401 and 403 that it can answer. */
export function addedStatuses({ auth, ...route }: AnyRoute): readonly string[] {
  const { params, query, body } = route as Partial<RouteDef>
  const takesInput = [params, query, body].some((part) => part !== undefined)
  return [...(takesInput ? ['400'] : []), ...(auth === 'none' ? [] : ['401', '403'])]
}

/** Codes that the route answers and does not declare itself. */
export function addedCodes(route: RouteDef): readonly string[] {
  const own: readonly string[] = route.errors
  return errorCodesOf(route).filter((code) => !own.includes(code))
}

function cannotBe(reason: string, shownBy: string): Wrong {
  return () => cannot(reason, shownBy)
}

function json(body: string): Asked {
  return { body, headers: { 'content-type': 'application/json' } }
}

/** The first part of the request whose schema refuses something. */
function withWrongMember(asked: Asked, route: RouteDef): Asked | Unreachable {
  for (const name of ['x-read-at-offset', 'x-min-offset'])
    if (name in (route.headers?.properties ?? {}))
      return { ...asked, headers: { ...asked.headers, [name]: 'x' } }
  for (const [name, schema] of Object.entries(route.query?.properties ?? {}))
    if (['integer', 'boolean'].includes(typeOf(schema)))
      return { ...asked, query: { ...asked.query, [name]: 'x' } }
  const [param] = Object.entries(route.params?.properties ?? {})
  if (param !== undefined) {
    const wrong = typeOf(param[1]) === 'integer' ? 'x' : 'x'.repeat(3_000)
    return { ...asked, params: { ...asked.params, [param[0]]: wrong } }
  }
  const [member] = Object.keys(Object(asked.body ?? {}))
  if (member !== undefined)
    return { ...asked, body: { ...Object(asked.body), [member]: { wrong: true } } }
  const [optional] = Object.keys(Object(route.body)['properties'] ?? {})
  if (optional !== undefined) return { ...asked, body: { [optional]: { wrong: true } } }
  return cannot('nothing that is read of it can be wrong')
}

const typeOf = (schema: unknown) => String(Object(schema)['type'])
