/** SHA-256 and Ed25519 of the platform, with an error if it has none. */
import {
  type CryptoPort,
  createWebCrypto,
  fromHex,
  type Genesis,
  memberSetOf,
  nodeCrypto,
  type Sha256,
} from '@quorumscan/verifier'
import { cryptoUnavailable } from '../errors.ts'
import type { createNodePort } from './node-port.ts'

/**
 * @param load - Loads the code of Node, which pages do not need.
 * @throws {QuorumscanError} CRYPTO_UNAVAILABLE, PART_UNAVAILABLE.
 */
export async function platformCrypto(
  load: () => Promise<{ readonly createNodePort: typeof createNodePort }>,
): Promise<CryptoPort> {
  const node = nodeCrypto()
  if (node !== undefined) return (await load()).createNodePort(node)
  try {
    return createWebCrypto()
  } catch (cause) {
    throw cryptoUnavailable(cause)
  }
}

/**
 * Browsers before 2025 have WebCrypto without Ed25519, which only its first use shows.
 *
 * @throws {QuorumscanError} CRYPTO_UNAVAILABLE.
 */
export async function assertEd25519(crypto: CryptoPort, genesis: Genesis): Promise<void> {
  const publicKey = fromHex(memberSetOf(genesis).members[0]?.scanKey ?? '')
  const wrong = { publicKey, signature: new Uint8Array(64), message: new Uint8Array() }
  const isBroken = await crypto.verifyEd25519(wrong).catch((cause: unknown) => {
    throw cryptoUnavailable(cause)
  })
  if (isBroken) throw cryptoUnavailable(new TypeError('the platform accepts a wrong signature'))
}

/** The synchronous SHA-256 of Node, ten times as fast as plain JavaScript; undefined elsewhere. */
export function platformSha256(): Sha256 | undefined {
  const hash = nodeCrypto()?.hash
  return hash && ((bytes) => hash('sha256', bytes, 'buffer'))
}
