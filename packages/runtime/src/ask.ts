/** HTTP as the cluster's own programs ask it: bounded in time and bytes, and never an exception. */
import { anySignal } from '@quorumscan/base'
import { wordOfFailure } from '@quorumscan/errors/node-words'
import { readAtMost } from '@quorumscan/reader'
import { parseStrictJson } from '@quorumscan/verifier'

/** More than any page of updates that is asked for here. A lying node may send anything, and for ever. */
const ANSWER_BYTES_MAX = 32 * 1024 * 1024

export type Asked = {
  /** Null where there was no answer. */
  readonly status: number | null
  readonly headers: Headers
  readonly text: string
  /** Null where the text is no JSON. What it holds is for the caller to check. */
  readonly body: unknown
  readonly latencyMs: number
  /** Why there was no answer, in the words of `node-words.ts`; null where there was one. */
  readonly reason: string | null
}

/** One request; `body` goes as JSON, and makes it a POST. */
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
  },
): Promise<Asked> {
  const { body, token = null, signal } = options
  const timeout = AbortSignal.timeout(options.timeoutMs)
  const ending = signal === undefined ? timeout : anySignal([timeout, signal])
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
      signal: ending,
    })
    const { bytesMax = ANSWER_BYTES_MAX } = options
    const text = Buffer.from(await readAtMost(response, { bytesMax, signal: ending })).toString()
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: parsed(text),
      latencyMs: performance.now() - startedMs,
      reason: null,
    }
  } catch (error) {
    return {
      status: null,
      headers: new Headers(),
      text: '',
      body: null,
      latencyMs: performance.now() - startedMs,
      reason: wordOfFailure(error),
    }
  }
}

function parsed(text: string): unknown {
  try {
    return parseStrictJson(text)
  } catch {
    return null // Somebody else answered.
  }
}
