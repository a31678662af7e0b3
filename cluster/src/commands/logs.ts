/** `logs`: what a process of the cluster wrote of late, and goes on writing. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import type { Clock } from '@quorumscan/base'
import type { DataDirectory } from '@quorumscan/operator'
import { UsageError } from '@quorumscan/runtime'
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

/** What is written from this place on, as it comes, until the signal. A file that is cut short is read from its start. */
export async function* follow(
  file: string,
  options: { readonly from: number; readonly clock: Clock; readonly signal: AbortSignal },
): AsyncGenerator<string> {
  const { clock, signal } = options
  const decoder = new StringDecoder()
  let position = options.from
  while (!signal.aborted) {
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
    if (size < position) position = 0
    if (size > position) {
      const part = readFrom(file, position)
      position += part.length
      yield decoder.write(part)
    } else await clock.delay(POLL_MS, signal).catch(() => {}) // The loop's condition ends it.
  }
}

function logsIn(directory: string): string[] {
  try {
    const files = readdirSync(directory).filter((file) => file.endsWith('.log'))
    return files.map((file) => file.slice(0, -'.log'.length)).sort()
  } catch {
    return [] // Before the first `up`.
  }
}
