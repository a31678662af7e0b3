/** Sends the trace context of requests to servers. */
import type { CertifiedOutcome, CertifiedReader } from '@quorumscan/reader/certified'
import { applicationFailed, type QuorumscanError } from '../errors.ts'

/**
 * A W3C `traceparent`, or a function that returns it for each request. Servers with tracing continue the trace. null,
 * undefined and invalid texts are not sent. If the function throws, or returns anything else, such as a promise, nothing is
 * sent: APPLICATION_FAILED. In browsers the header costs a preflight.
 */
export type Traceparent = string | (() => string | null | undefined)

const FORM = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/
const WHAT = 'The function `traceparent`'

/**
 * A `fetch` for one request, whose headers are a plain object.
 *
 * @throws {QuorumscanError} APPLICATION_FAILED, before anything is sent.
 */
export function tracedFetch(
  fetch: typeof globalThis.fetch,
  traceparent: Traceparent,
): typeof globalThis.fetch {
  const trace = traceOf(traceparent)
  // An invalid trace context does not fail the request.
  if (trace === null || !FORM.test(trace)) return fetch
  return (input, init) => {
    const headers = { ...(init?.headers as Record<string, string>), traceparent: trace }
    return fetch(input, { ...init, headers })
  }
}

/** null: nothing is to be sent. @throws {QuorumscanError} APPLICATION_FAILED. */
function traceOf(traceparent: Traceparent): string | null {
  let trace: unknown
  try {
    trace = typeof traceparent === 'function' ? traceparent() : traceparent
  } catch (cause) {
    throw applicationFailed(WHAT, cause)
  }
  if (trace === null || trace === undefined) return null
  if (typeof trace === 'string') return trace
  // Nothing else handles the failure of a promise.
  Promise.resolve(trace).catch(() => {})
  throw applicationFailed(WHAT, new TypeError('it must return a string at once'))
}

/** A traced `fetch`, and the reader that uses it, whose missing answers it explains. */
export function createTracing(fetch: typeof globalThis.fetch, traceparent: Traceparent) {
  /** Reads in progress, with the failure of the application during each. They share requests. */
  const reads = new Set<{ failed: QuorumscanError | null }>()
  /** A failure of the application explains a missing answer better than the nodes do. */
  const explaining = async <Outcome extends CertifiedOutcome<unknown>>(
    run: () => Promise<readonly Outcome[]>,
  ): Promise<Outcome[]> => {
    const read: { failed: QuorumscanError | null } = { failed: null }
    reads.add(read)
    try {
      return (await run()).map((outcome) => {
        if (outcome.kind === 'insufficient' && read.failed !== null) throw read.failed
        return outcome
      })
    } finally {
      reads.delete(read)
    }
  }
  const traced: typeof globalThis.fetch = async (input, init) => {
    let send: typeof globalThis.fetch
    try {
      send = tracedFetch(fetch, traceparent)
    } catch (error) {
      for (const read of reads) read.failed = error as QuorumscanError // It throws nothing else.
      throw error
    }
    return send(input, init)
  }
  return {
    fetch: traced,
    explaining(reader: CertifiedReader): CertifiedReader {
      return {
        ...reader,
        lookup: (...input) => explaining(() => reader.lookup(...input)),
        async read(...input) {
          const [outcome] = await explaining(async () => [await reader.read(...input)])
          return outcome as NonNullable<typeof outcome> // One asked, one answered.
        },
      }
    },
  }
}
