/**
 * The transport of browsers, and of Node without our undici transport: global `fetch`, held to the
 * bounds of the port.
 */
import { concatBytes } from '../encoding/bytes.ts'
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
        body: await readAtMost(response, input.bytesMax),
      }
    },
  }
}

/** Gives up while the answer is still coming: a node cannot fill our memory. */
async function readAtMost(response: Response, bytesMax: number): Promise<Uint8Array> {
  if (response.body === null) return new Uint8Array()
  const reader = response.body.getReader()
  const chunks: Uint8Array[] = []
  for (let byteCount = 0; ; ) {
    const { done, value } = await reader.read()
    if (done) return concatBytes(chunks)
    byteCount += value.byteLength
    if (byteCount > bytesMax) {
      const error = new RangeError(`an answer of more than ${bytesMax} bytes`)
      reader.cancel(error).catch(() => {}) // The connection may be gone already.
      throw error
    }
    chunks.push(value)
  }
}
