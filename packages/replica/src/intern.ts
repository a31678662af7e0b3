/**
 * Short byte forms of the long texts that members are made of: a party or index key takes 20 bytes
 * instead of 80 to 170, a contract id 32 instead of 66. Most of a replica's memory is members.
 */
import { concatBytes, sha256, toHex, utf8 } from '@quorumscan/base'
import type { ContractId } from '@quorumscan/model'

/** 160 bits of SHA-256: nobody finds two texts with one tag. */
export const TAG_BYTES = 20

const CONTRACT_ID = /^00[0-9a-f]{64}$/

export function tagOf(text: string): Uint8Array {
  return sha256(utf8(text)).subarray(0, TAG_BYTES)
}

/** undefined if the text is no contract id, so that nothing can be found under it. */
export function contractIdBytes(id: ContractId): Uint8Array | undefined {
  return CONTRACT_ID.test(id) ? new Uint8Array(Buffer.from(id.slice(2), 'hex')) : undefined
}

export function contractIdOf(bytes: Uint8Array): ContractId {
  return `00${toHex(bytes)}`
}

/** Bounds of `ZRANGE … BYLEX` around all members that start with the prefix and are of UTF-8 or hash bytes after it. */
export function membersWith(prefix: Uint8Array): { min: Uint8Array; max: Uint8Array } {
  return { min: lexBound('[', prefix), max: lexBound('(', successorOf(prefix)) }
}

/** `[` includes the member, `(` excludes it. */
export function lexBound(kind: '[' | '(', member: Uint8Array): Uint8Array {
  return concatBytes([utf8(kind), member])
}

/** The smallest byte string above all that start with the prefix; the prefix holds a byte below 0xff. */
function successorOf(prefix: Uint8Array): Uint8Array {
  let end = prefix.byteLength
  while (end > 0 && prefix[end - 1] === 0xff) end--
  const bytes = prefix.slice(0, end)
  bytes[end - 1] = (bytes[end - 1] ?? 0) + 1
  return bytes
}
