/** What a caller accepts as an answer (RFC 9110 §12.5.1), as far as we have a choice. */
import { VERIFIED_MEDIA_TYPE } from './schemas/verified.ts'

const REFUSED = /;\s*q\s*=\s*0(?:\.0*)?\s*(?:;|$)/i

/**
 * Whether the answer is to come with its receipt (D-42): only where its media type is named. A wildcard
 * asks for the usual form, which costs no signatures.
 *
 * @param accept - The request header, undefined where there is none.
 */
export function acceptsVerified(accept: string | undefined): boolean {
  return (accept ?? '').split(',').some((range) => {
    const type = range.replace(/;.*$/s, '').trim().toLowerCase()
    return type === VERIFIED_MEDIA_TYPE && !REFUSED.test(range)
  })
}
