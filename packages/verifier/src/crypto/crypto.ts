/**
 * SHA-256 and Ed25519 through a port, asynchronously, because WebCrypto is all that browsers have.
 * A caller with a faster implementation, or without WebCrypto, passes its own.
 */
import { toHex } from '../encoding/bytes.ts'

export interface CryptoPort {
  sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>>
  /** False for anything that is not a valid signature; rejects only if the implementation is broken. */
  verifyEd25519(input: {
    /** 32 raw bytes. */
    readonly publicKey: Uint8Array<ArrayBuffer>
    readonly signature: Uint8Array<ArrayBuffer>
    readonly message: Uint8Array<ArrayBuffer>
  }): Promise<boolean>
}

/** Whether it is the 64 bytes of a signature in lower-case hex. */
export function isSignature(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{128}$/.test(value)
}

/** Keys that a port remembers. */
export const KEYS_CACHED_MAX = 256 // A network has at most 100 nodes; the rest are keys of other networks.

/** WebCrypto's type by way of the global, so that consumers need not have the DOM library. */
export type PlatformSubtle = typeof globalThis extends { crypto: { subtle: infer Subtle } }
  ? Subtle
  : never

/**
 * The port over WebCrypto (Node ≥ 20, current browsers).
 *
 * If WebCrypto has no Ed25519 (browsers before 2025), verifying rejects with a TypeError.
 *
 * @throws {TypeError} If the platform has no WebCrypto: then pass an implementation, nothing is read unverified.
 */
export function createWebCrypto(subtle: PlatformSubtle = globalThis.crypto?.subtle): CryptoPort {
  if (!subtle) throw new TypeError('WebCrypto is missing: pass `crypto`')
  const keys = new Map<string, Promise<CryptoKey | null>>()
  const importKey = (publicKey: Uint8Array<ArrayBuffer>): Promise<CryptoKey | null> => {
    const name = toHex(publicKey)
    const known = keys.get(name)
    if (known !== undefined) return known
    const key = subtle
      .importKey('raw', publicKey, 'Ed25519', false, ['verify'])
      .catch((cause: { name?: string }) => {
        if (cause.name === 'NotSupportedError')
          throw new TypeError('Ed25519 is missing: pass `crypto`', { cause })
        return null // A key that does not import verifies nothing.
      })
    if (keys.size >= KEYS_CACHED_MAX) keys.clear()
    keys.set(name, key)
    return key
  }
  return {
    sha256: async (bytes) => new Uint8Array(await subtle.digest('SHA-256', bytes)),
    async verifyEd25519(input) {
      if (input.signature.byteLength !== 64) return false
      const key = await importKey(input.publicKey)
      return key !== null && (await subtle.verify('Ed25519', key, input.signature, input.message))
    },
  }
}
