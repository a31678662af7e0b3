/**
 * Short byte forms of the long texts that members are made of: a party takes 16 bytes instead of some 80, an
 * index key 10 instead of up to 170, a contract id 17 instead of 66. Most of a replica's memory is members.
 *
 * Index keys and contract ids begin with two characters, their bucket, which is part of a Redis key. The order
 * of the short forms of contract ids is that of the ids.
 */
import { concatBytes, sha256, sha256Hex, toHex, utf8 } from '@quorumscan/base'
import type { ContractId } from '@quorumscan/model'

/** 128 bits of SHA-256. Two parties with one tag would share no more than the walk over their names. */
export const TAG_BYTES = 16
/** The bytes after the bucket. Two index keys with one tag cost extra reads: a contract shows its own index keys. */
export const INDEX_TAG_BYTES = 8
/** 12 bits in two characters: 100 contracts a bucket at 100 000 names. */
export const BUCKET_BYTES = 2
/** 128 bits with the bucket; contracts show which id they have. */
const ID_REST_BYTES = 15
/** Bytes of the short form of a contract id, bucket included: the end of each member of an index. */
export const SHORT_ID_BYTES = BUCKET_BYTES + ID_REST_BYTES
/** 128 bits with the bucket: a total does not show which key it has. */
const TOTAL_REST_BYTES = 15

/** The digits of base 64, in the order of their bytes. */
const ALPHABET = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz'
/** All buckets. */
export const BUCKETS: readonly string[] = [...ALPHABET].flatMap((high) =>
  [...ALPHABET].map((low) => high + low),
)
const CONTRACT_ID = /^00[0-9a-f]{64}$/

export function tagOf(party: string): Uint8Array {
  return sha256(utf8(party)).subarray(0, TAG_BYTES)
}

/** A short form: the bucket, and the bytes that identify the item within it. */
export type Interned = { readonly bucket: string; readonly rest: Uint8Array }

export function internKey(indexKey: string): Interned {
  return internHash(Buffer.from(sha256Hex(indexKey), 'hex'), INDEX_TAG_BYTES)
}

/** Of the key of a list whose total is kept. */
export function internTotal(amountKey: string): Interned {
  return internHash(Buffer.from(sha256Hex(amountKey), 'hex'), TOTAL_REST_BYTES)
}

/** Undefined if the text is not a contract id, so that nothing can be found under it. */
export function internText(id: string): Interned | undefined {
  return CONTRACT_ID.test(id) ? internContractId(id) : undefined
}

export function internContractId(id: ContractId): Interned {
  return internHash(contractIdBytes(id), ID_REST_BYTES)
}

/** The bytes of a short form, bucket included. */
export function internedBytes({ bucket, rest }: Interned): Uint8Array {
  return concatBytes([utf8(bucket), rest])
}

function internHash(hash: Uint8Array, restBytes: number): Interned {
  const [first = 0, second = 0] = hash
  const high = ALPHABET[first >> 2] ?? ''
  const low = ALPHABET[((first & 3) << 4) | (second >> 4)] ?? ''
  return { bucket: high + low, rest: hash.subarray(1, 1 + restBytes) }
}

export function contractIdBytes(id: ContractId): Uint8Array {
  return Buffer.from(id.slice(2), 'hex')
}

export function contractIdOf(bytes: Uint8Array): ContractId {
  return `00${toHex(bytes)}`
}

/** Bounds of `ZRANGE … BYLEX`. */
export type Bounds = { readonly min: Uint8Array; readonly max: Uint8Array }

/** Bounds of `ZRANGE … BYLEX` around all members that start with the prefix and are of UTF-8 or hash bytes after it. */
export function membersWith(prefix: Uint8Array): { min: Buffer; max: Buffer } {
  return { min: lexBound('[', prefix), max: lexBound('(', successorOf(prefix)) }
}

/** `[` includes the member, `(` excludes it. */
export function lexBound(kind: '[' | '(', member: Uint8Array): Buffer {
  return Buffer.concat([utf8(kind), member])
}

/** The smallest byte string above all that start with the prefix; the prefix holds a byte below 0xff. */
function successorOf(prefix: Uint8Array): Uint8Array {
  let end = prefix.byteLength
  while (end > 0 && prefix[end - 1] === 0xff) end--
  // A copy: `slice` of a Buffer is a view.
  const bytes = new Uint8Array(prefix.subarray(0, end))
  bytes[end - 1] = (bytes[end - 1] ?? 0) + 1
  return bytes
}
