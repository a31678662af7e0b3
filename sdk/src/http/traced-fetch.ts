/** Tells servers which trace a request belongs to. */

/**
 * A `traceparent` as the W3C defines it, or a function that is asked at each request. A server whose operator
 * traces continues it; null, undefined and what is none of the form are not sent. In browsers it costs a preflight.
 */
export type Traceparent = string | (() => string | null | undefined)

const FORM = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/

/** A `fetch` for requests whose headers are a plain object. */
export function tracedFetch(
  fetch: typeof globalThis.fetch,
  traceparent: Traceparent | undefined,
): typeof globalThis.fetch {
  if (traceparent === undefined) return fetch
  return (input, init) => {
    const trace = typeof traceparent === 'function' ? traceparent() : traceparent
    // No answer is lost for the sake of a trace.
    if (typeof trace !== 'string' || !FORM.test(trace)) return fetch(input, init)
    const headers = { ...(init?.headers as Record<string, string>), traceparent: trace }
    return fetch(input, { ...init, headers })
  }
}
