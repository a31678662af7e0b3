/** The log of a process: JSON lines. Nothing here is given headers or bodies, so no token can get in. */
import { writeSync } from 'node:fs'
import { type DestinationStream, type Logger, pino } from 'pino'

export type { Logger } from 'pino'

/** A line that cannot be written, to a full disk or a pipe that nobody reads, is lost, and nothing else. */
const lossyStdout: DestinationStream = {
  write(line) {
    try {
      writeSync(process.stdout.fd, line)
    } catch {
      // Nobody can be told.
    }
  },
}

/** Defence in depth, for an object that somebody logs whole. */
const SECRET_PATHS = ['authorization', '*.authorization', '*.*.authorization', 'token', '*.token']

export function createLogger(options: {
  /** The process, such as `sv-1`. */
  readonly name: string
  /** trace, debug, info, warn, error, fatal or silent. */
  readonly level: string
  /** stdout unless given. */
  readonly stream?: DestinationStream
}): Logger {
  const settings = {
    name: options.name,
    level: options.level,
    redact: { paths: SECRET_PATHS, censor: '[redacted]' },
    formatters: { level: (label: string) => ({ level: label }) },
  }
  return pino(settings, options.stream ?? lossyStdout)
}
