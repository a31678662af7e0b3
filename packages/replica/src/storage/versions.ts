/**
 * The versions of one name or document: `[from, to, expires, body]`, newest first, in one value.
 * A version is visible at N when from ≤ N < to and expires > T(N) (D-9).
 */
import { concatBytes } from '@quorumscan/base'
import type { Micros, Offset } from '@quorumscan/model'
import { isAtEnd, readBytes, readVarint, varint } from './packing.ts'

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
  return concatBytes(
    versions.flatMap((version) => [
      varint(version.from),
      varint(version.to === null ? 0 : version.to - version.from),
      varint(version.expires ?? 0),
      varint(version.body.byteLength),
      version.body,
    ]),
  )
}

export function decodeVersions(bytes: Uint8Array): Version[] {
  const cursor = { bytes, position: 0 }
  const versions: Version[] = []
  while (!isAtEnd(cursor)) {
    const from = readVarint(cursor)
    const span = readVarint(cursor)
    const expires = readVarint(cursor)
    versions.push({
      from,
      to: span === 0 ? null : from + span,
      expires: expires === 0 ? null : expires,
      body: readBytes(cursor, readVarint(cursor)),
    })
  }
  return versions
}

/** The body of the newest version visible at the moment, or null. A view into `bytes`. */
export function findVisible(bytes: Uint8Array, moment: Moment): Uint8Array | null {
  const cursor = { bytes, position: 0 }
  while (!isAtEnd(cursor)) {
    const from = readVarint(cursor)
    const span = readVarint(cursor)
    const expires = readVarint(cursor)
    const body = readBytes(cursor, readVarint(cursor))
    if (
      from <= moment.offset &&
      (span === 0 || moment.offset < from + span) &&
      (expires === 0 || expires > moment.recordTime)
    )
      return body
  }
  return null
}
