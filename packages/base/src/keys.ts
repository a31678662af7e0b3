/**
 * Ed25519 (RFC 8032) and SHA-256 for processes that run on Node. `verifier` does the same through
 * WebCrypto, asynchronously, for browsers.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  hash,
  sign as nodeSign,
  verify as nodeVerify,
  randomBytes,
} from 'node:crypto'
import { concatBytes } from '@quorumscan/verifier'
import { LRUCache } from 'lru-cache'
import { fromHex, toHex } from './bytes.ts'

/** An Ed25519 key pair. `publicKey` is 32 raw bytes in lower-case hex. */
export type KeyPair = {
  readonly publicKey: string
  /** 32 bytes, lower-case hex. Secret: store with mode 0600, never log. */
  readonly seed: string
  /** Signature of 64 bytes. */
  sign(message: Uint8Array): Uint8Array
}

const PKCS8_PREFIX = fromHex('302e020100300506032b657004220420')
const SPKI_PREFIX = fromHex('302a300506032b6570032100')

export function sha256(...parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts
  if (only !== undefined && parts.length === 1) return sha256Of(only)
  const digest = createHash('sha256')
  for (const part of parts) digest.update(part)
  return new Uint8Array(digest.digest())
}

/** Hashes to a binary string: for small inputs, such as the nodes of a tree, three times as fast as to a Buffer. */
function sha256Of(bytes: Uint8Array): Uint8Array {
  const text = hash('sha256', bytes, 'binary')
  const digest = new Uint8Array(text.length)
  for (let index = 0; index < text.length; index++) digest[index] = text.charCodeAt(index)
  return digest
}

/**
 * Of bytes, or of a text as UTF-8, in lower-case hex; three times as fast as `toHex(sha256(…))`, which counts where
 * every entry is hashed.
 */
export function sha256Hex(data: Uint8Array | string): string {
  return hash('sha256', data, 'hex')
}

/** @throws {RangeError} If the seed is not 32 bytes of lower-case hex. */
export function keyPairFromSeed(seed: string): KeyPair {
  const bytes = fromHex(seed)
  if (bytes.byteLength !== 32) throw new RangeError('an Ed25519 seed has 32 bytes')
  const key = Buffer.from(concatBytes([PKCS8_PREFIX, bytes]))
  const privateKey = createPrivateKey({ key, format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' })
  return {
    publicKey: toHex(spki.subarray(SPKI_PREFIX.byteLength)),
    seed,
    sign: (message) => new Uint8Array(nodeSign(null, message, privateKey)),
  }
}

export function createKeyPair(): KeyPair {
  return keyPairFromSeed(randomBytes(32).toString('hex'))
}

const PUBLIC_KEYS_CACHED_MAX = 1024
const publicKeys = new LRUCache({
  max: PUBLIC_KEYS_CACHED_MAX,
  memoMethod: (publicKey: string) => {
    const key = Buffer.from(concatBytes([SPKI_PREFIX, fromHex(publicKey)]))
    return createPublicKey({ key, format: 'der', type: 'spki' })
  },
})

/** False for anything that is not a valid signature, a malformed key included. */
export function verifySignature(input: {
  readonly publicKey: string
  readonly message: Uint8Array
  readonly signature: Uint8Array
}): boolean {
  if (input.signature.byteLength !== 64 || !/^[0-9a-f]{64}$/.test(input.publicKey)) return false
  try {
    return nodeVerify(null, input.message, publicKeys.memo(input.publicKey), input.signature)
  } catch {
    return false // node:crypto throws for a key that is not a point of the curve.
  }
}
