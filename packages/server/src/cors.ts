/** Cross-origin use (D-40): every page may call; the bearer token is the only credential. */
import { exposedHeaders, type RouteTable } from '@quorumscan/api'

/** Browsers keep a preflight for at most two hours. */
const PREFLIGHT_SECONDS = 7200
/** The methods of all routes. The answer is the same for every path; a path refuses other methods itself. */
const METHODS = 'DELETE, GET, PATCH, POST, PUT'
const REQUEST_HEADERS = 'accept authorization content-type traceparent tracestate x-request-id'

/** Headers of every answer. */
export const corsHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': exposedHeaders.join(', '),
}

/** Headers of the answer to a preflight of any route of the table. */
export function preflightHeaders(routes: RouteTable): Readonly<Record<string, string>> {
  const declared = Object.values(routes).flatMap((route) =>
    Object.keys(route.headers?.properties ?? {}),
  )
  const headers = [...new Set([...REQUEST_HEADERS.split(' '), ...declared])].sort()
  return {
    'access-control-allow-methods': METHODS,
    'access-control-allow-headers': headers.join(', '),
    'access-control-max-age': String(PREFLIGHT_SECONDS),
  }
}
