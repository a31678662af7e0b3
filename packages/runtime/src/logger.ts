/**
 * The log of a process: JSON lines. They contain no headers or bodies, hence no tokens. Texts of others are escaped, so
 * that they cannot control the terminal in which the log is read.
 */
import { printableJson, writeLossily } from '@quorumscan/base'
import { type DestinationStream, type Logger, pino } from 'pino'

export type { Logger } from 'pino'

/** Defence in depth, for objects that are logged whole. */
const SECRET_PATHS = ['authorization', '*.authorization', '*.*.authorization', 'token', '*.token']

export function createLogger(options: {
  /** The process, such as `sv-1`. */
  readonly name: string
  /** trace, debug, info, warn, error, fatal or silent. */
  readonly level: string
  /** stdout unless given. */
  readonly stream?: DestinationStream
}): Logger {
  const { name, level, stream = { write: writeLossily } } = options
  const escaped = { write: (line: string) => stream.write(printableJson(line)) }
  const redact = { paths: SECRET_PATHS, censor: '[redacted]' }
  const formatters = { level: (label: string) => ({ level: label }) }
  return pino({ name, level, redact, formatters }, escaped)
}
