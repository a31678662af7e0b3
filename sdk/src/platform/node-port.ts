/** The crypto of Node. Pages do not load it. */
import { type CryptoPort, createNodeCrypto, type nodeCrypto } from '@quorumscan/verifier'

export function createNodePort(node: NonNullable<ReturnType<typeof nodeCrypto>>): CryptoPort {
  return createNodeCrypto(node)
}
