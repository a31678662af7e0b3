/** Which errors a route can answer: what it declares, and what every server adds. */
import type { ErrorCode } from '@quorumscan/errors'
import type { RouteDef } from './route-def.ts'

/** Codes of a route, without repetition; what only a missing route can meet is not among them. */
export function errorCodesOf(route: RouteDef): readonly ErrorCode[] {
  const takesInput = [route.params, route.query, route.headers, route.body].some(
    (part) => part !== undefined,
  )
  const codes: ErrorCode[] = ['MALFORMED_REQUEST', 'INTERNAL', ...route.errors]
  if (takesInput) codes.push('INVALID_ARGUMENT')
  if (route.method !== 'GET') codes.push('BODY_TOO_LARGE')
  if (route.body !== undefined) codes.push('MALFORMED_BODY', 'UNSUPPORTED_MEDIA_TYPE')
  if (route.auth !== 'none') codes.push('UNAUTHENTICATED')
  if (route.auth === 'user' || route.auth === 'admin') codes.push('PERMISSION_DENIED')
  // Probes (cost 0) are answered to the end.
  if (route.cost !== 0) codes.push('RATE_LIMITED', 'OVERLOADED', 'NOT_READY')
  return [...new Set(codes)]
}
