/** HTTP requests of commands and of the local cluster: bounded in time and bytes; never an exception. */
import { linkedController } from '@quorumscan/base'
import { describeFailure } from '@quorumscan/errors/node-words'
import { readAtMost } from '@quorumscan/reader'
import { parseStrictJson } from '@quorumscan/verifier'

/** More than any page of updates that is requested here. A lying node may send anything, without end. */
const ANSWER_BYTES_MAX = 32 * 1024 * 1024

export type HttpReply = {
  /** Null without an answer. */
  readonly status: number | null
  readonly headers: Headers
  readonly text: string
  /** The text as JSON; null if it is not JSON. The caller checks its content. */
  readonly body: unknown
  readonly latencyMs: number
  /** Why there was no answer, in the words of `node-words.ts`; null if there was one. */
  readonly reason: string | null
}

/** One request; `body` is sent as JSON, and makes it a POST. */
export async function ask(
  url: string,
  options: {
    readonly timeoutMs: number
    readonly headers?: Readonly<Record<string, string>>
    /** A bearer token. */
    readonly token?: string | null
    readonly body?: unknown
    readonly signal?: AbortSignal
    readonly bytesMax?: number
    /** Default: that of Node.js, which trusts `NODE_EXTRA_CA_CERTS`. */
    readonly fetch?: typeof globalThis.fetch
  },
): Promise<HttpReply> {
  const { body, token = null, signal, fetch = globalThis.fetch } = options
  const ending = linkedController(AbortSignal.timeout(options.timeoutMs), signal)
  const startedMs = performance.now()
  try {
    const response = await fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
      redirect: 'error',
      signal: ending.signal,
    })
    const { status, headers } = response
    const { bytesMax = ANSWER_BYTES_MAX } = options
    const text = Buffer.from(
      await readAtMost(response, { bytesMax, signal: ending.signal }),
    ).toString()
    const latencyMs = performance.now() - startedMs
    return { status, headers, text, body: parsed(text), latencyMs, reason: null }
  } catch (error) {
    const nothing = { status: null, headers: new Headers(), text: '', body: null }
    return { ...nothing, latencyMs: performance.now() - startedMs, reason: describeFailure(error) }
  } finally {
    ending.abort()
  }
}

function parsed(text: string): unknown {
  try {
    return parseStrictJson(text)
  } catch {
    return null // Another program answered.
  }
}
