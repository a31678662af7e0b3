/** Sends the trace context of requests to servers. */

/**
 * A W3C `traceparent`, or a function that returns it for each request. Servers with tracing continue the trace. null,
 * undefined and invalid texts are not sent. In browsers the header costs a preflight.
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
    // An invalid trace context does not fail the request.
    if (typeof trace !== 'string' || !FORM.test(trace)) return fetch(input, init)
    const headers = { ...(init?.headers as Record<string, string>), traceparent: trace }
    return fetch(input, { ...init, headers })
  }
}
