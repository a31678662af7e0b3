/** Sends the trace context of requests to servers. */
import type { CertifiedOutcome, CertifiedReader } from '@quorumscan/reader/certified'
import { applicationFailed, type QuorumscanError } from '../errors.ts'

/**
 * A W3C `traceparent`, or a function that returns it for each request. Servers with tracing continue the trace. null,
 * undefined and invalid texts are not sent. If the function throws, nothing is sent: APPLICATION_FAILED. In browsers the
 * header costs a preflight.
 */
export type Traceparent = string | (() => string | null | undefined)

const FORM = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/

/**
 * A `fetch` for requests whose headers are a plain object. It rejects with APPLICATION_FAILED if the function throws.
 *
 * @param onFailure - Called with that error.
 */
export function tracedFetch(
  fetch: typeof globalThis.fetch,
  traceparent: Traceparent,
  onFailure: (error: QuorumscanError) => void = () => {},
): typeof globalThis.fetch {
  const traceOf = () => {
    try {
      return typeof traceparent === 'function' ? traceparent() : traceparent
    } catch (cause) {
      const error = applicationFailed('The function `traceparent`', cause)
      onFailure(error)
      throw error
    }
  }
  return async (input, init) => {
    const trace = traceOf()
    // An invalid trace context does not fail the request.
    if (typeof trace !== 'string' || !FORM.test(trace)) return fetch(input, init)
    const headers = { ...(init?.headers as Record<string, string>), traceparent: trace }
    return fetch(input, { ...init, headers })
  }
}

/** A traced `fetch`, and the reader that uses it, whose missing answers it explains. */
export function createTracing(fetch: typeof globalThis.fetch, traceparent: Traceparent) {
  let failed: QuorumscanError | null = null
  /** A failure of the application explains a missing answer better than the nodes do. */
  const explained = <Outcome extends CertifiedOutcome<unknown>>(outcome: Outcome): Outcome => {
    if (outcome.kind === 'insufficient' && failed !== null) throw failed
    return outcome
  }
  const begin = () => {
    failed = null
  }
  return {
    fetch: tracedFetch(fetch, traceparent, (error) => {
      failed = error
    }),
    explaining(reader: CertifiedReader): CertifiedReader {
      return {
        ...reader,
        async lookup(...input) {
          begin()
          return (await reader.lookup(...input)).map(explained)
        },
        async read(...input) {
          begin()
          return explained(await reader.read(...input))
        },
      }
    },
  }
}
