/** A log as a file, which one process writes and another reads. Offsets follow from the order. */
import type { LogEntry } from '@quorumscan/ledger'

/** Record time, and length of the bytes. */
const HEADER_BYTES = 12

export function encodeLog(entries: readonly LogEntry[]): Buffer {
  return Buffer.concat(
    entries.flatMap(({ recordTime, bytes }) => {
      const header = Buffer.alloc(HEADER_BYTES)
      header.writeBigUInt64BE(BigInt(recordTime))
      header.writeUInt32BE(bytes.byteLength, 8)
      return [header, bytes]
    }),
  )
}

export function decodeLog(file: Buffer): readonly LogEntry[] {
  const entries: LogEntry[] = []
  for (let position = 0; position < file.byteLength; ) {
    const recordTime = Number(file.readBigUInt64BE(position))
    const start = position + HEADER_BYTES
    const end = start + file.readUInt32BE(position + 8)
    // Copies: a view of the file would keep all of it in every entry.
    entries.push({
      offset: entries.length + 1,
      recordTime,
      bytes: new Uint8Array(file.subarray(start, end)),
    })
    position = end
  }
  return entries
}
