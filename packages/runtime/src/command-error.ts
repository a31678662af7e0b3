/** What stands in the way of a command, as a sentence for the person who gave it; whatever else is thrown becomes a line. */
import { dirname } from 'node:path'
import { inspect } from 'node:util'
import { describeFileError } from '@quorumscan/base'
import { ZodError } from 'zod'

export class CommandError extends Error {
  override readonly name: string = 'CommandError'
}

/** What was typed makes no sense, or names what is not there: nothing was done. */
export class UsageError extends CommandError {
  override readonly name = 'UsageError'
}

/** Who was asked said nothing. */
export class SilentError extends CommandError {
  override readonly name = 'SilentError'
}

/** Of objects that are no errors, as libraries reject with. */
const ONE_LINE = { breakLength: Number.POSITIVE_INFINITY, compact: true }

/** The sentence of an error for a person. Of what nobody foresaw it is one line, without a trace of the program. */
export function messageOf(error: unknown): string {
  if (error instanceof CommandError) return error.message
  if (error instanceof ZodError) return wordsOfIssues(error)
  if (!(error instanceof Error))
    return typeof error === 'object' ? inspect(error, ONE_LINE) : firstLine(String(error))
  return describeFileError(error) ?? firstLine(error.message)
}

type Issue = ZodError['issues'][number]

/** All that is wrong. */
function wordsOfIssues({ issues }: ZodError): string {
  return issues
    .map((issue) => {
      const place = issue.path.length === 0 ? '' : `${issue.path.join('.')} `
      return `${place}${wordsOfIssue(issue)}`
    })
    .join('; ')
}

function wordsOfIssue(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${issue.expected === 'int' ? 'an integer' : `of type ${issue.expected}`}`
    case 'invalid_value':
      return `must be ${issue.values.join(' or ')}`
    case 'too_big':
      return `must be at most ${issue.maximum}${unitOf(issue.origin)}`
    case 'too_small':
      return `must be at least ${issue.minimum}${unitOf(issue.origin)}`
    case 'unrecognized_keys':
      return `has members that are unknown here: ${issue.keys.join(', ')}`
    case 'invalid_union':
      return 'is none that is known here'
    case 'invalid_format':
    case 'custom':
      // A sentence of ours, where there is one.
      return issue.message.startsWith('Invalid') ? 'is not of its form' : issue.message
    default:
      return 'is not valid'
  }
}

/** As `messageOf`, of writing a file: what is missing then is its directory. */
export function messageOfWrite(error: unknown, file: string): string {
  const isMissing = (error as NodeJS.ErrnoException | null)?.code === 'ENOENT'
  return isMissing ? `the directory ${dirname(file)} does not exist` : messageOf(error)
}

function unitOf(origin: string): string {
  return origin === 'string' ? ' characters long' : origin === 'array' ? ' items long' : ''
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? ''
}
