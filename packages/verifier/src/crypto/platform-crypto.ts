/** SHA-256 and Ed25519 of Node, and the choice between them and WebCrypto. Pages do not load this. */
import { concatBytes, fromHex, toHex } from '../encoding/bytes.ts'
import { type CryptoPort, createWebCrypto, KEYS_CACHED_MAX } from './crypto.ts'
import { type NodeCrypto, nodeCrypto } from './node-crypto.ts'

/**
 * The port of the platform: `node:crypto` in Node, whose WebCrypto warns in Node 20 that Ed25519 is experimental;
 * WebCrypto elsewhere.
 *
 * @throws {TypeError} As `createWebCrypto`.
 */
export function createPlatformCrypto(): CryptoPort {
  const node = nodeCrypto()
  return node === undefined ? createWebCrypto() : createNodeCrypto(node)
}

/** What precedes the 32 bytes of an Ed25519 key in its SubjectPublicKeyInfo (RFC 8410). */
const SPKI_PREFIX = '302a300506032b6570032100'

/** The port over `node:crypto`. */
export function createNodeCrypto(node: NodeCrypto): CryptoPort {
  const keys = new Map<string, object | null>()
  const keyOf = (publicKey: Uint8Array<ArrayBuffer>): object | null => {
    const name = toHex(publicKey)
    const known = keys.get(name)
    if (known !== undefined) return known
    let key: object | null = null
    try {
      const der = concatBytes([fromHex(SPKI_PREFIX), publicKey])
      if (publicKey.byteLength === 32)
        key = node.createPublicKey({ key: der, format: 'der', type: 'spki' })
    } catch {
      // A key that does not import verifies nothing.
    }
    if (keys.size >= KEYS_CACHED_MAX) keys.clear()
    keys.set(name, key)
    return key
  }
  return {
    sha256: async (bytes) => new Uint8Array(node.createHash('sha256').update(bytes).digest()),
    async verifyEd25519({ publicKey, signature, message }) {
      const key = keyOf(publicKey)
      if (key === null || signature.byteLength !== 64) return false
      return new Promise((resolve, reject) =>
        node.verify(null, message, key, signature, (error, isValid) =>
          error === null ? resolve(isValid) : reject(error),
        ),
      )
    },
  }
}
