/** The media types that a caller accepts (RFC 9110 §12.5.1). */

const REFUSED = /;\s*q\s*=\s*0(?:\.0*)?\s*(?:;|$)/i

/**
 * Whether the caller names this media type. A wildcard stands for the usual form, which costs less.
 *
 * @param accept - The request header; null or undefined if it is missing.
 */
export function accepts(accept: string | null | undefined, mediaType: string): boolean {
  if (accept == null) return false
  return accept.split(',').some((range) => {
    const type = range.replace(/;.*$/s, '').trim().toLowerCase()
    return type === mediaType && !REFUSED.test(range)
  })
}
