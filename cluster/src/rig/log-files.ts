/** The log files of processes: their latest lines, and the text that is appended. */
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import type { Clock } from '@quorumscan/base'
import { repeat } from '@quorumscan/runtime'

const PART_BYTES = 65_536
/** A person takes this for at once. */
const POLL_MS = 200

/**
 * The latest lines of a file, none of a file that does not exist, and where it ended.
 *
 * @param limits.bytes - How far back it is read.
 */
export function lastLines(
  file: string,
  limits: { readonly lines: number; readonly bytes: number },
): { lines: string[]; end: number } {
  const end = sizeOf(file)
  if (end === 0 || limits.lines === 0) return { lines: [], end }
  const from = Math.max(0, end - limits.bytes)
  const text = readPart(file, from, end - from)
    .toString()
    .replace(/\n$/, '')
  // The first line is cut unless it begins at the start of the file.
  const whole = text === '' ? [] : text.split('\n').slice(from === 0 ? 0 : 1)
  return { lines: whole.slice(-limits.lines), end }
}

/** Passes on what is appended after a position, until it is disposed of. A truncated file is read from its start. */
export function follow(
  file: string,
  options: {
    readonly from: number
    readonly clock: Clock
    readonly onPiece: (piece: string) => void
  },
): AsyncDisposable {
  const { clock, onPiece } = options
  const decoder = new StringDecoder()
  let position = options.from
  const readOn = () => {
    const size = sizeOf(file)
    if (size < position) position = 0
    while (position < size) {
      const part = readPart(file, position, PART_BYTES)
      if (part.length === 0) return // It was truncated meanwhile.
      position += part.length
      onPiece(decoder.write(part))
    }
  }
  return repeat(readOn, { clock, everyMs: POLL_MS })
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

function readPart(path: string, position: number, count: number): Buffer {
  const part = Buffer.alloc(count)
  const file = openSync(path, 'r')
  try {
    return part.subarray(0, readSync(file, part, 0, count, position))
  } finally {
    closeSync(file)
  }
}
