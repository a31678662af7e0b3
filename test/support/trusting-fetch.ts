/** A `fetch` that trusts a certificate authority that Node does not know. */
import { slowness } from '@quorumscan/testkit'
import { Agent, fetch as undiciFetch } from 'undici'

/** Time to connect, with the handshake of TLS: the product allows less, but tests run next to others. */
const CONNECT_MS_MAX = 10_000

/** @param ca - Certificate of the authority (PEM). */
export function createTrustingFetch(ca: string): typeof fetch {
  const dispatcher = new Agent({ connect: { ca, timeout: CONNECT_MS_MAX * slowness() } })
  // Types of Node and of undici describe the same thing twice.
  const send = ((input: string, init: object) =>
    undiciFetch(input, { ...init, dispatcher })) as unknown as typeof fetch
  return async (input, init) => {
    if (!(input instanceof Request)) return send(input, init)
    // Node's `Request` is not an instance of undici's.
    const { method, headers, signal } = input
    const body = input.body === null ? {} : { body: Buffer.from(await input.arrayBuffer()) }
    return send(input.url, { method, headers: [...headers] as [string, string][], signal, ...body })
  }
}
