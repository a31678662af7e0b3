/**
 * The versions of one name or document: `[from, to, expires, body]`, newest first, in one value.
 * A version is visible at N when from ≤ N < to and expires > T(N) (D-9).
 */
import { ByteReader, ByteWriter } from '@quorumscan/base'
import type { Micros, Offset } from '@quorumscan/model'

export type Version = {
  readonly from: Offset
  /** Offset that archived it; null while it is active. */
  readonly to: Offset | null
  /** Record time at which it is gone; null for never. */
  readonly expires: Micros | null
  /** Bytes that are ready to be sent, or an encoded contract. */
  readonly body: Uint8Array
}

/** An offset with its record time: all that visibility depends on. */
export type Moment = { readonly offset: Offset; readonly recordTime: Micros }

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

export function decodeVersions(bytes: Uint8Array): Version[] {
  const reader = new ByteReader(bytes)
  const versions: Version[] = []
  while (!reader.isAtEnd()) versions.push(readVersion(reader))
  return versions
}

/** The body of the newest version visible at the moment, or null. A view into `bytes`. */
export function findVisible(bytes: Uint8Array, moment: Moment): Uint8Array | null {
  const reader = new ByteReader(bytes)
  while (!reader.isAtEnd()) {
    const version = readVersion(reader)
    const { expires, body } = version
    if (isActiveAt(version, moment.offset) && (expires === null || expires > moment.recordTime))
      return body
  }
  return null
}

/** Created at or before the offset, and not archived there; whatever its expiry. */
export function isActiveAt({ from, to }: Version, offset: Offset): boolean {
  return from <= offset && (to === null || offset < to)
}

function readVersion(reader: ByteReader): Version {
  const from = reader.unsigned()
  const span = reader.unsigned()
  const expires = reader.unsigned()
  return {
    from,
    to: span === 0 ? null : from + span,
    expires: expires === 0 ? null : expires,
    body: reader.raw(reader.unsigned()),
  }
}
