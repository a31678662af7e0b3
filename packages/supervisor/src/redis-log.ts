/** Why a Redis exited, as its log file has it. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** More than the last lines of a Redis that cannot start. */
const TAIL_BYTES = 8192
/** A line of a Redis: process and role, time, level (`#` is the highest), message. */
const WARNING = /^[0-9]+:[A-Z] [^#*.-]*?[0-9]{2}:[0-9]{2}:[0-9.]+ # (.*)$/
/** What Redis 7 and 8 and Valkey 8 report of files whose content is not what they wrote. Nothing else proves damage. */
const DAMAGE =
  /Bad file format reading the append only file|Unexpected end of file reading the append only file|Unknown command '.*' reading the append only file|Error reading the RDB preamble of the append only file|Wrong signature trying to load DB|Wrong RDB checksum|Internal error in RDB reading|AOF manifest file/
/** The first line of a start. What stands before it belongs to an earlier start. */
const START = /oO0OoO0OoO0Oo .* is starting/
/** Advice about the machine, and the announcement of the exit after its reason. */
const NO_REASON = /^WARNING |^Server initialized|^Configuration loaded|version=|exiting|bye bye/i

export type RedisFailure = {
  /** The sentence of Redis. */
  readonly reason: string
  /** Whether it proves that the files of the Redis are damaged. */
  readonly isDamage: boolean
}

/** Of the last start; null without a log file, or without a reason in it. */
export function readRedisFailure(logFile: string | null): RedisFailure | null {
  const lines = (logFile === null ? '' : readTail(logFile)).split('\n')
  const warnings = lines
    .slice(lines.findLastIndex((line) => START.test(line)) + 1)
    .flatMap((line) => WARNING.exec(line.trim())?.[1] ?? [])
    .filter((warning) => !NO_REASON.test(warning))
  const damage = warnings.findLast((warning) => DAMAGE.test(warning))
  const reason = damage ?? warnings.at(-1)
  return reason === undefined ? null : { reason, isDamage: damage !== undefined }
}

function readTail(file: string): string {
  let descriptor: number
  try {
    descriptor = openSync(file, 'r')
  } catch {
    return ''
  }
  try {
    const { size } = fstatSync(descriptor)
    const buffer = Buffer.alloc(Math.min(size, TAIL_BYTES))
    const count = readSync(descriptor, buffer, 0, buffer.length, size - buffer.length)
    return buffer.toString('utf8', 0, count)
  } finally {
    closeSync(descriptor)
  }
}
