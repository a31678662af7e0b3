/** `fetch` of a client that trusts an authority that is not built into Node.js. */
import { createSecureContext } from 'node:tls'
import { createFetch } from '@quorumscan/runtime'

/** @param ca - Its certificate (PEM). */
export function createTrustingFetch(ca: string): typeof fetch {
  const trust = createSecureContext({ ca })
  const send = createFetch(() => trust)
  return async (input, init) => {
    if (!(input instanceof Request)) return send(input, init)
    // That of Node is no request of undici's.
    const { method, headers, signal } = input
    const body = input.body === null ? {} : { body: Buffer.from(await input.arrayBuffer()) }
    return send(input.url, { method, headers: [...headers] as [string, string][], signal, ...body })
  }
}
