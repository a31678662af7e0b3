/** What stands in the way of a command, as a sentence for the person who gave it; whatever else is thrown becomes a line. */
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

const DISK_WORDS: Readonly<Record<string, string>> = {
  EACCES: 'no permission',
  EPERM: 'no permission',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  ENOENT: 'there is none',
  ENOTDIR: 'there is none',
  EISDIR: 'it is a directory',
}

/** The sentence of an error for a person. Of what nobody foresaw it is one line, without a trace of the program. */
export function messageOf(error: unknown): string {
  if (error instanceof ClusterError) return error.message
  if (error instanceof ZodError) return error.issues.map(wordsOfIssue).join('; ')
  if (!(error instanceof Error)) return firstLine(String(error))
  const { code, path } = error as NodeJS.ErrnoException
  const words = DISK_WORDS[code ?? '']
  return words !== undefined && path !== undefined ? `${path}: ${words}` : firstLine(error.message)
}

function wordsOfIssue({ path, message }: ZodError['issues'][number]): string {
  return path.length === 0 ? message : `${path.join('.')}: ${message}`
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? ''
}
