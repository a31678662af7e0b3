/** Loaded by pages with the clients; the crypto itself is loaded with the first read. */
import { nodeCrypto } from '@quorumscan/verifier'

/** Whether the platform has SHA-256 and Ed25519. Some have WebCrypto without Ed25519 (`assertEd25519`). */
export function hasPlatformCrypto(): boolean {
  return globalThis.crypto?.subtle !== undefined || nodeCrypto() !== undefined
}
