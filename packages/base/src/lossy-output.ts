/** Output that never blocks a process, and never ends it. */
import { writeSync } from 'node:fs'

/**
 * Writes to stdout without waiting. Text that a full disk or a full pipe does not accept is lost.
 */
export function writeLossily(text: string): void {
  try {
    // `process.stdout` makes a pipe non-blocking: it refuses text that does not fit.
    writeSync(process.stdout.fd, text)
  } catch {
    // No other output exists.
  }
}
