/**
 * The transport of browsers, and of Node without our undici transport: global `fetch`, held to the
 * bounds of the port.
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
  if (send === undefined) throw new TypeError('no fetch here')
  return {
    async request(input) {
      const response = await send(input.url + input.path, {
        method: input.method,
        headers: input.headers,
        body: input.body,
        signal: input.signal,
        redirect: 'error', // D-34: a node that sends us elsewhere does not answer.
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
 * The body of an answer. Gives up while it is still coming: a node cannot fill our memory, nor our time with pieces.
 *
 * @throws {RangeError} If it is too large, or comes in pieces that are too small.
 * @throws The signal's reason when aborted. Node's `fetch` may have forgotten its own signal once the headers are there.
 */
export async function readAtMost(
  response: Response,
  { bytesMax, signal }: { readonly bytesMax: number; readonly signal: AbortSignal },
): Promise<Uint8Array<ArrayBuffer>> {
  const answer = createBodyPieces(bytesMax)
  const reader = response.body?.getReader()
  // The connection may be gone already.
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
