/** A `fetch` that trusts a certificate authority that Node does not know. */
import { createSecureContext } from 'node:tls'
import { createFetch } from '@quorumscan/runtime'

/** @param ca - Certificate of the authority (PEM). */
export function createTrustingFetch(ca: string): typeof fetch {
  const trust = createSecureContext({ ca })
  const send = createFetch(() => trust)
  return async (input, init) => {
    if (!(input instanceof Request)) return send(input, init)
    // Node's `Request` is not an instance of undici's.
    const { method, headers, signal } = input
    const body = input.body === null ? {} : { body: Buffer.from(await input.arrayBuffer()) }
    return send(input.url, { method, headers: [...headers] as [string, string][], signal, ...body })
  }
}
