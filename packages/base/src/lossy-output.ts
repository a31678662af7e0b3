/** Output that never holds a process up, and never ends it. */
import { writeSync } from 'node:fs'

/**
 * Writes to stdout what can be written at once. What cannot, to a full disk or a pipe that nobody reads, is lost, and
 * nothing else.
 */
export function writeLossily(text: string): void {
  try {
    // Asked for, `process.stdout` makes a pipe one that refuses what does not fit instead of waiting for its reader.
    writeSync(process.stdout.fd, text)
  } catch {
    // Nobody can be told.
  }
}
