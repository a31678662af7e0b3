// React Native: its JavaScript engine lacks WebCrypto, and its `fetch` lacks streams. Both are passed in.
import { createScan, type Network, type Scan } from '@quorumscan/sdk'

/** The packages of an app that provide each part are in the table below. */
export type Parts = {
  /** Its answers have a `body` with `getReader`. */
  readonly fetch: typeof globalThis.fetch
  readonly sha256: (bytes: Uint8Array) => Uint8Array
  readonly ed25519: {
    verify(
      signature: Uint8Array,
      message: Uint8Array,
      publicKey: Uint8Array,
      options: { readonly zip215: boolean },
    ): boolean
  }
  readonly storage: {
    getItem(key: string): Promise<string | null>
    setItem(key: string, value: string): Promise<void>
  }
}

export function connect(network: Network, { fetch, sha256, ed25519, storage }: Parts): Scan {
  return createScan({
    ...network,
    fetch,
    crypto: {
      sha256: async (bytes) => Uint8Array.from(sha256(bytes)),
      verifyEd25519: async ({ signature, message, publicKey }) =>
        // `zip215: false` refuses the signatures that RFC 8032 refuses.
        signature.length === 64 && ed25519.verify(signature, message, publicKey, { zip215: false }),
    },
    // Remembers the owner of each name across restarts.
    store: { get: (key) => storage.getItem(key), set: (key, value) => storage.setItem(key, value) },
  })
}
