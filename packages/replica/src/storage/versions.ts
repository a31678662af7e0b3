/**
 * The versions of one name or document: `[from, to, expires, body]`, newest first, in one value.
 * A version is visible at N when from ≤ N < to and expires > T(N) (D-9).
 */
import { ByteReader, ByteWriter, fromUtf8, utf8 } from '@quorumscan/base'
import type { Contract, LogPosition, Micros, Offset } from '@quorumscan/model'
import type { Layout } from './layout.ts'

export type Version = {
  readonly from: Offset
  /** Offset that archived it; null while it is active. */
  readonly to: Offset | null
  /** Record time at which it expires; null for never. */
  readonly expires: Micros | null
  /** Bytes that are ready to be sent, or an encoded contract. */
  readonly body: Uint8Array
}

export function encodeVersions(versions: readonly Version[]): Uint8Array {
  const writer = new ByteWriter()
  for (const { from, to, expires, body } of versions) {
    writer.unsigned(from)
    writer.unsigned(to === null ? 0 : to - from)
    writer.unsigned(expires ?? 0)
    writer.bytes(body)
  }
  return writer.finish()
}

/** Empty for a value that is not stored. */
export function decodeVersions(value: Uint8Array | null | undefined): Version[] {
  const reader = new ByteReader(value ?? new Uint8Array(0))
  const versions: Version[] = []
  while (!reader.isAtEnd()) versions.push(readVersion(reader))
  return versions
}

/** The body of the newest version visible at the position, or null. A view into `bytes`. */
export function findVisible(bytes: Uint8Array, position: LogPosition): Uint8Array | null {
  const reader = new ByteReader(bytes)
  while (!reader.isAtEnd()) {
    const version = readVersion(reader)
    const { expires, body } = version
    if (isActiveAt(version, position.offset) && (expires === null || expires > position.recordTime))
      return body
  }
  return null
}

/** Created at or before the offset, and not archived there; whatever its expiry. */
export function isActiveAt({ from, to }: Version, offset: Offset): boolean {
  return from <= offset && (to === null || offset < to)
}

/** The versions in a value of `names` or `documents` that are active at the offset. */
export function activeVersions(value: Uint8Array | null | undefined, offset: Offset): Version[] {
  return decodeVersions(value).filter((version) => isActiveAt(version, offset))
}

/** The contracts among the documents that are active at the offset, the newest first, by entity. */
export function contractsAt(
  documents: Readonly<Record<string, Uint8Array>>,
  offset: Offset,
  { codec }: Pick<Layout, 'codec'>,
): Map<string, readonly Contract[]> {
  const contractsOf = (value: Uint8Array) =>
    activeVersions(value, offset).map(({ body }) => codec.decode(body))
  return new Map(Object.entries(documents).map(([entity, value]) => [entity, contractsOf(value)]))
}

function readVersion(reader: ByteReader): Version {
  const from = reader.unsigned()
  const span = reader.unsigned()
  const expires = reader.unsigned()
  const to = span === 0 ? null : from + span
  return { from, to, expires: expires === 0 ? null : expires, body: reader.raw(reader.unsigned()) }
}

/** A member of the list `ended`: which name or document has a version that ended, and at which offset. */
export type EndedVersion = {
  readonly to: Offset
  readonly kind: 'names' | 'documents'
  /** The field of the hash. */
  readonly field: string
}

const KIND_BYTES = { names: 0, documents: 1 } as const

export function encodeEnded({ to, kind, field }: EndedVersion): Uint8Array {
  const writer = new ByteWriter()
  writer.unsigned(to)
  writer.byte(KIND_BYTES[kind])
  writer.raw(utf8(field))
  return writer.finish()
}

export function decodeEnded(bytes: Uint8Array): EndedVersion {
  const reader = new ByteReader(bytes)
  const to = reader.unsigned()
  const kind = reader.byte() === KIND_BYTES.names ? 'names' : 'documents'
  return { to, kind, field: fromUtf8(reader.rest()) }
}
