/** Errors of commands: one sentence for an operator. Any other error becomes one line. */
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { inspect } from 'node:util'
import { describeFileError } from '@quorumscan/base'
import { ZodError } from 'zod'

export class CommandError extends Error {
  override readonly name: string = 'CommandError'
}

/** The command line is invalid, or names what does not exist: nothing was done. */
export class UsageError extends CommandError {
  override readonly name = 'UsageError'
}

/** The process did not answer the request. */
export class NoReplyError extends CommandError {
  override readonly name = 'NoReplyError'
}

/** The format of objects other than errors, with which some libraries reject. */
const ONE_LINE = { breakLength: Number.POSITIVE_INFINITY, compact: true }

/** The sentence of an error for a person. Of an unexpected error, its first line, without a stack. */
export function messageOf(error: unknown): string {
  if (error instanceof CommandError) return error.message
  if (error instanceof ZodError) return describeIssues(error)
  if (!(error instanceof Error))
    return typeof error === 'object' ? inspect(error, ONE_LINE) : firstLine(String(error))
  return describeFileError(error) ?? firstLine(error.message)
}

/** All issues, in the words of zod. */
function describeIssues({ issues }: ZodError): string {
  const sentences = issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join('.')}: ${message}`,
  )
  return sentences.join('; ')
}

/** As `messageOf`, for an error of writing a file: a missing file means a missing directory. */
export function messageOfWrite(error: unknown, file: string): string {
  const isMissing = (error as NodeJS.ErrnoException | null)?.code === 'ENOENT'
  return isMissing ? `the directory ${dirname(file)} does not exist` : messageOf(error)
}

/** As `messageOf`, for an error of reading or parsing a file, which it names. */
export function messageOfRead(error: unknown, file: string): string {
  return describeFileError(error, file) ?? `${file}: ${messageOf(error)}`
}

/**
 * What `parse` makes of a file that the command line names.
 *
 * @param problem - Precedes the reason in the message.
 * @throws {UsageError} Which names the file, if it cannot be read or `parse` throws.
 */
export function readInput<T>(file: string, parse: (bytes: Buffer) => T, problem = ''): T {
  try {
    return parse(readFileSync(file))
  } catch (error) {
    throw new UsageError(`${problem}${messageOfRead(error, file)}`, { cause: error })
  }
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? ''
}
