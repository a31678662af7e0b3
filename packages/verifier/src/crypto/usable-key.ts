/** Which public keys a genesis may have. */
import { fromHex, toHex } from '../encoding/bytes.ts'

// y coordinates of the points of order 1, 2, 4 and 8, little-endian, sign bit cleared (RFC 8032 §5.1).
const SMALL_ORDER = [
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '0000000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
]
const FIELD_PRIME_BIG_ENDIAN = '7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed'

/**
 * Whether 64 hex digits are a canonical Ed25519 public key that is not of small order (D-41).
 * Under a key of small order one signature fits many messages; a second spelling of a key would
 * count as a second node.
 */
export function isUsableKey(hex: string): boolean {
  if (!/^[0-9a-f]{64}$/.test(hex)) return false
  const bytes = fromHex(hex)
  bytes[31] = (bytes[31] as number) & 0x7f // The sign of x.
  if (SMALL_ORDER.includes(toHex(bytes))) return false
  return toHex(bytes.reverse()) < FIELD_PRIME_BIG_ENDIAN
}
