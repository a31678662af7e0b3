/** The history hash: a chain over every entry and what it did (Rule 1). */
import { fromHex, sha256, toHex, utf8 } from '@quorumscan/base'
import { canonicalJson, type Genesis, type Json } from '@quorumscan/consensus'
import type { EntryResult, Micros, Offset } from '@quorumscan/model'
import { u64 } from './contract-id.ts'

/** SHA-256 of the RFC 8785 form, hex: h(0), and what submissions and receipts name (D-41). */
export function genesisHashOf(genesis: Genesis): string {
  // A genesis document is JSON; its type only lacks the index signature.
  return toHex(sha256(utf8(canonicalJson(genesis as unknown as Json))))
}

/** The canonical JSON of a result, as it is hashed. */
export function encodeResult(result: EntryResult): Uint8Array {
  return utf8(canonicalJson(result as unknown as Json))
}

/** h(N) from h(N−1). All hashes are hex; `entryHash` is SHA-256 of the entry's bytes. */
export function nextHistoryHash(input: {
  readonly previous: string
  readonly offset: Offset
  readonly recordTime: Micros
  readonly entryHash: string
  readonly result: EntryResult
}): string {
  const hash = sha256(
    fromHex(input.previous),
    u64(input.offset),
    u64(input.recordTime),
    fromHex(input.entryHash),
    sha256(encodeResult(input.result)),
  )
  return toHex(hash)
}
