/**
 * The transport of browsers, and of Node without the undici transport: global `fetch` with the bounds of the port.
 */
import { createBodyPieces } from './body-pieces.ts'
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
      const response = await send(input.url + input.path, {
        method: input.method,
        headers: input.headers,
        body: input.body,
        signal: input.signal,
        redirect: 'error', // A redirect is not an answer (D-34).
        credentials: 'omit',
        cache: 'no-store',
        referrerPolicy: 'no-referrer',
      })
      return {
        status: response.status,
        header: (name) => response.headers.get(name),
        body: await readAtMost(response, input),
      }
    },
  }
}

/**
 * The body of an answer. Aborts as soon as a bound is exceeded, so that a node can exhaust neither memory nor time.
 *
 * @throws {RangeError} If it is too large, or its pieces are too small.
 * @throws The signal's reason when aborted. Node's `fetch` may ignore its own signal after the headers.
 */
export async function readAtMost(
  response: Response,
  { bytesMax, signal }: { readonly bytesMax: number; readonly signal: AbortSignal },
): Promise<Uint8Array<ArrayBuffer>> {
  const answer = createBodyPieces(bytesMax)
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
