/**
 * The log of a process: JSON lines with ISO times. They contain no headers or bodies, hence no tokens. Texts of others are escaped, so
 * that they cannot control the terminal in which the log is read.
 */
import { printableJson, writeLossily } from '@quorumscan/base'
import { isScanError } from '@quorumscan/errors'
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
  const timestamp = pino.stdTimeFunctions.isoTime
  return pino({ name, level, timestamp, redact, formatters, serializers: { err } }, escaped)
}

/** Names of errors that a mistake in code throws; also those of plain errors, unless they have a code. */
const DEFECTS = new Set([
  'AssertionError',
  'Error',
  'EvalError',
  'RangeError',
  'ReferenceError',
  'SyntaxError',
  'TypeError',
  'URIError',
])

/** An expected error, of ours, of a library or of the system, says all by its message. A trace is for defects. */
function err(error: unknown): unknown {
  if (!isExpected(error)) return pino.stdSerializers.err(error as Error)
  const { stack: _, ...rest } = pino.stdSerializers.err(error)
  return rest
}

function isExpected(error: unknown): error is Error {
  if (isScanError(error)) return error.code !== 'INTERNAL'
  if (!(error instanceof Error)) return false
  return !DEFECTS.has(error.name) || (error.name === 'Error' && 'code' in error)
}
