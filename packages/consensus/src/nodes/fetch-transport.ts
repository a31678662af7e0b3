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
        body: await readAtMost(response, input.bytesMax),
      }
    },
  }
}

/** Gives up while the answer is still coming: a node cannot fill our memory, nor our time with pieces. */
async function readAtMost(response: Response, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  const answer = createBodyPieces(bytesMax)
  const reader = response.body?.getReader()
  for (;;) {
    const { value } = (await reader?.read()) ?? {}
    if (value === undefined) return answer.bytes()
    try {
      answer.add(value)
    } catch (error) {
      reader?.cancel(error).catch(() => {}) // The connection may be gone already.
      throw error
    }
  }
}
