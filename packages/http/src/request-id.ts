/** The id of a request: the caller's own, where it is of the form, else one is drawn (D-33). */
import type { IncomingHttpHeaders } from 'node:http'

export const REQUEST_ID_BYTES = 12
const REQUEST_ID = /^[A-Za-z0-9-]{1,64}$/

/** null where the caller named none of the form. */
export function givenRequestId(headers: IncomingHttpHeaders): string | null {
  const given = headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : null
}
