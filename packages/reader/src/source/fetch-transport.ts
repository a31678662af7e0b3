/**
 * The transport of browsers, and of Node without the undici transport: global `fetch` with the bounds of the port.
 */
import { BodyTooLargeError, createBodyPieces } from './body-pieces.ts'
import type { Dispatcher } from './interim-answers.ts'
import type { Transport } from './transport.ts'

/**
 * @param options.fetch - Default: the platform's.
 * @throws {TypeError} If the platform has no `fetch` and none is passed in.
 */
export function createFetchTransport(
  options: { readonly fetch?: typeof globalThis.fetch | undefined } = {},
): Transport {
  const send = options.fetch ?? globalThis.fetch
  if (send === undefined) throw new TypeError('`fetch` is missing: pass it')
  return {
    async request(input) {
      const dispatcher = options.fetch === undefined ? await boundedDispatcher() : undefined
      const response = await send(input.url + input.path, {
        ...(dispatcher && { dispatcher }),
        method: input.method,
        headers: input.headers,
        body: input.body,
        signal: input.signal,
        redirect: 'manual', // Cloudflare Workers refuse 'error'.
        credentials: 'omit',
        cache: 'no-store',
        referrerPolicy: 'no-referrer',
      })
      assertNoRedirect(response)
      return {
        status: response.status,
        header: (name) => response.headers.get(name),
        body: await readAtMost(response, input),
      }
    },
  }
}

/**
 * What `fetch` of Node.js takes as `dispatcher`: its default one, which is set once its `fetch` is loaded, with a bound of
 * interim answers. Undefined in browsers and other runtimes, which do not load its code.
 */
async function boundedDispatcher() {
  if (typeof globalThis.Response !== 'function') return undefined
  const given = (globalThis as unknown as Record<symbol, Dispatcher | undefined>)[
    Symbol.for('undici.globalDispatcher.1')
  ]
  return given && (await import('./interim-answers.ts')).withInterimBound(given)
}

/**
 * A redirect is not an answer (D-34). Browsers hide its status.
 *
 * @throws {Error} If the server redirects.
 */
export function assertNoRedirect({ type, status }: Response): void {
  if (type === 'opaqueredirect' || (status >= 300 && status < 400 && status !== 304))
    throw new Error('the answer is a redirect, which is not followed: use the final address')
}

/**
 * The body of an answer. Aborts as soon as a bound is exceeded, so that a server can exhaust neither memory nor time.
 * Answers of a `fetch` without streams, such as that of React Native, are checked after they were read.
 *
 * @param bytesMax - Decompressed.
 * @throws {BodyTooLargeError} If it is too large, or its pieces are too small.
 * @throws The signal's reason when aborted. Node's `fetch` may ignore its own signal after the headers.
 */
export async function readAtMost(
  response: Response,
  { bytesMax, signal }: { readonly bytesMax: number; readonly signal: AbortSignal },
): Promise<Uint8Array<ArrayBuffer>> {
  const answer = createBodyPieces(bytesMax)
  if (response.body === undefined) {
    const declared = Number(response.headers.get('content-length'))
    if (declared > bytesMax) throw new BodyTooLargeError(`a body of ${declared} bytes`)
    answer.add(new Uint8Array(await response.arrayBuffer()))
    signal.throwIfAborted()
    return answer.bytes()
  }
  const reader = response.body?.getReader()
  // The connection may be closed already.
  const cancel = (reason: unknown) => void reader?.cancel(reason).catch(() => {})
  const leave = () => cancel(signal.reason)
  signal.addEventListener('abort', leave)
  try {
    for (;;) {
      signal.throwIfAborted()
      const { value } = (await reader?.read()) ?? {}
      signal.throwIfAborted()
      if (value === undefined) return answer.bytes()
      answer.add(value)
    }
  } catch (error) {
    cancel(error)
    throw error
  } finally {
    signal.removeEventListener('abort', leave)
  }
}
