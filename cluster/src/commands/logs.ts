/** `logs`: what a process of the cluster wrote recently, and what it writes from then on. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import type { Clock } from '@quorumscan/base'
import type { DataDirectory } from '@quorumscan/operator'
import { repeat, UsageError } from '@quorumscan/runtime'
import { readFrom } from '../rig/read-from.ts'

/** A person takes this for at once. */
const POLL_MS = 200

/** Where a process writes. @throws {UsageError} If none of that name does. */
export function logFileOf(directory: DataDirectory, name: string): string {
  const known = logsIn(dirname(directory.logFile('control')))
  if (known.includes(name)) return directory.logFile(name)
  throw new UsageError(
    known.length === 0
      ? `there are no logs in ${directory.path}`
      : `there is no log of ${name}; there are those of ${known.join(', ')}`,
  )
}

/** The last lines of a file, and where it ended. */
export function lastLines(file: string, count: number): { lines: string[]; end: number } {
  const content = readFileSync(file)
  const text = content.toString().replace(/\n$/, '')
  const lines = text === '' || count === 0 ? [] : text.split('\n').slice(-count)
  return { lines, end: content.byteLength }
}

/** Passes on what is written from this place on, until it is disposed of. A file that is cut short is read from its start. */
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
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
    if (size < position) position = 0
    while (position < size) {
      const part = readFrom(file, position)
      if (part.length === 0) return // It was cut short meanwhile.
      position += part.length
      onPiece(decoder.write(part))
    }
  }
  return repeat(readOn, { clock, everyMs: POLL_MS })
}

function logsIn(directory: string): string[] {
  try {
    const files = readdirSync(directory).filter((file) => file.endsWith('.log'))
    return files.map((file) => file.slice(0, -'.log'.length)).sort()
  } catch {
    return [] // Before the first `up`.
  }
}
