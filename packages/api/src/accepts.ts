/** What a caller accepts as an answer (RFC 9110 §12.5.1), as far as we have a choice. */

const REFUSED = /;\s*q\s*=\s*0(?:\.0*)?\s*(?:;|$)/i

/**
 * Whether the answer is to come in another form than the usual one: only where its media type is named. A
 * wildcard asks for the usual form, which costs less.
 *
 * @param accept - The request header, null or undefined where there is none.
 */
export function accepts(accept: string | null | undefined, mediaType: string): boolean {
  if (accept == null) return false
  return accept.split(',').some((range) => {
    const type = range.replace(/;.*$/s, '').trim().toLowerCase()
    return type === mediaType && !REFUSED.test(range)
  })
}
