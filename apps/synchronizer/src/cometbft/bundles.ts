/**
 * What the engine passes from member to member before a block is proposed: several entries in one of its transactions,
 * as each of those costs every engine and every member more than what an entry brings. Blocks hold entries one by one.
 */
import { ENTRY_BYTES_MAX } from '@quorumscan/ledger'
import { BinaryReader, BinaryWriter } from 'cosmjs-types/binary'

/** Judging as many takes a member some 10 ms. */
export const BUNDLE_ENTRIES_MAX = 64
/** Of a varint of 32 bits. */
const LENGTH_BYTES_MAX = 5
/** The largest entry fits. */
export const BUNDLE_BYTES_MAX = ENTRY_BYTES_MAX + LENGTH_BYTES_MAX

/** How many of these entries, from the first on, go into one bundle. At least one, if there is any. */
export function countThatFits(entries: readonly Uint8Array[]): number {
  let bytes = 0
  const end = entries.slice(0, BUNDLE_ENTRIES_MAX).findIndex((entry) => {
    bytes += LENGTH_BYTES_MAX + entry.byteLength
    return bytes > BUNDLE_BYTES_MAX
  })
  return end < 0 ? Math.min(entries.length, BUNDLE_ENTRIES_MAX) : end
}

/** Each behind its length as a varint. */
export function encodeBundle(entries: readonly Uint8Array[]): Uint8Array {
  const writer = new BinaryWriter()
  for (const entry of entries) writer.bytes(entry)
  return writer.finish()
}

/** Null: these bytes are no bundle, which no member of good will passes on. */
export function decodeBundle(bytes: Uint8Array): readonly Uint8Array[] | null {
  const reader = new BinaryReader(bytes)
  const entries: Uint8Array[] = []
  try {
    while (reader.pos < reader.len) {
      if (entries.length === BUNDLE_ENTRIES_MAX) return null
      entries.push(reader.bytes())
    }
  } catch {
    return null // A length that goes beyond the end.
  }
  return entries.length === 0 ? null : entries
}
