/** Members of the list `ended`: which name or document has a version that ended, and at which offset. */
import { concatBytes, fromUtf8, utf8 } from '@quorumscan/base'
import type { Offset } from '@quorumscan/model'
import { readVarint, varint } from './packing.ts'

export type EndedVersion = {
  readonly to: Offset
  readonly kind: 'names' | 'documents'
  /** The field of the hash. */
  readonly field: string
}

const KIND_BYTES = { names: 0, documents: 1 } as const

export function encodeEnded(ended: EndedVersion): Uint8Array {
  return concatBytes([varint(ended.to), Uint8Array.of(KIND_BYTES[ended.kind]), utf8(ended.field)])
}

export function decodeEnded(bytes: Uint8Array): EndedVersion {
  const cursor = { bytes, position: 0 }
  const to = readVarint(cursor)
  return {
    to,
    kind: bytes[cursor.position] === KIND_BYTES.names ? 'names' : 'documents',
    field: fromUtf8(bytes.subarray(cursor.position + 1)),
  }
}
