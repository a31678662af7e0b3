/** What stands in the way of a command, as a sentence for the person who gave it; whatever else is thrown becomes a line. */
import { inspect } from 'node:util'
import { describeFileError } from '@quorumscan/base'
import { ZodError } from 'zod'

export class ClusterError extends Error {
  override readonly name: string = 'ClusterError'
}

/** What was typed makes no sense, or names what is not there: nothing was done. */
export class UsageError extends ClusterError {
  override readonly name = 'UsageError'
}

/** Who was asked said nothing. */
export class SilentError extends ClusterError {
  override readonly name = 'SilentError'
}

/** Of objects that are no errors, as libraries reject with. */
const ONE_LINE = { breakLength: Number.POSITIVE_INFINITY, compact: true }

/** The sentence of an error for a person. Of what nobody foresaw it is one line, without a trace of the program. */
export function messageOf(error: unknown): string {
  if (error instanceof ClusterError) return error.message
  if (error instanceof ZodError) return wordsOfIssues(error)
  if (!(error instanceof Error))
    return typeof error === 'object' ? inspect(error, ONE_LINE) : firstLine(String(error))
  return describeFileError(error) ?? firstLine(error.message)
}

type Issue = ZodError['issues'][number]

/** What is wrong first, and how much more is. */
function wordsOfIssues({ issues: [first, ...more] }: ZodError): string {
  if (first === undefined) return 'it is not valid'
  const place = first.path.length === 0 ? '' : `${first.path.join('.')}: `
  const others = more.length === 0 ? '' : `, and ${more.length} more`
  return `${place}${wordsOfIssue(first)}${others}`
}

function wordsOfIssue(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `no ${issue.expected}`
    case 'invalid_value':
      return `none of ${issue.values.join(', ')}`
    case 'too_big':
      return `more, or longer, than ${issue.maximum}`
    case 'too_small':
      return `less, or shorter, than ${issue.minimum}`
    case 'unrecognized_keys':
      return `nobody knows ${issue.keys.join(', ')}`
    case 'invalid_format':
    case 'custom':
      // A sentence of ours, where there is one.
      return issue.message.startsWith('Invalid') ? 'not of this form' : issue.message
    default:
      return 'not valid'
  }
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? ''
}
