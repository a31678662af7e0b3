import type { CryptoPort } from '../crypto/crypto.ts'
import { createPlatformCrypto } from '../crypto/platform-crypto.ts'
import { toHex, utf8 } from '../encoding/bytes.ts'
import { canonicalJson } from '../encoding/canonical-json.ts'
import type { Genesis } from './genesis.ts'

/** SHA-256 of the document's RFC 8785 form, lower-case hex: what wallets pin (D-41). */
export async function hashGenesis(
  genesis: Genesis,
  crypto: CryptoPort = createPlatformCrypto(),
): Promise<string> {
  return toHex(await crypto.sha256(utf8(canonicalJson(genesis))))
}
