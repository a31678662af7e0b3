/** Members of the list `ended`: which name or document has a version that ended, and at which offset. */
import { ByteReader, ByteWriter, fromUtf8, utf8 } from '@quorumscan/base'
import type { Offset } from '@quorumscan/model'

export type EndedVersion = {
  readonly to: Offset
  readonly kind: 'names' | 'documents'
  /** The field of the hash. */
  readonly field: string
}

const KIND_BYTES = { names: 0, documents: 1 } as const

export function encodeEnded(ended: EndedVersion): Uint8Array {
  const writer = new ByteWriter()
  writer.unsigned(ended.to)
  writer.byte(KIND_BYTES[ended.kind])
  writer.raw(utf8(ended.field))
  return writer.finish()
}

export function decodeEnded(bytes: Uint8Array): EndedVersion {
  const reader = new ByteReader(bytes)
  return {
    to: reader.unsigned(),
    kind: reader.byte() === KIND_BYTES.names ? 'names' : 'documents',
    field: fromUtf8(reader.rest()),
  }
}
