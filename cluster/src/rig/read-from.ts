/** Reading a file from a place on, as logs are followed: a part at a time. */
import { closeSync, openSync, readSync } from 'node:fs'

const PART_BYTES = 65_536

/** What is there, up to 64 KiB. */
export function readFrom(path: string, position: number): Buffer {
  const part = Buffer.alloc(PART_BYTES)
  const file = openSync(path, 'r')
  try {
    return part.subarray(0, readSync(file, part, 0, PART_BYTES, position))
  } finally {
    closeSync(file)
  }
}
