/** Errors of hooks that write. */
import { applicationFailed, isQuorumscanError, type QuorumscanError } from '../errors.ts'

/** An error that is none of the SDK came from the application: the write may have taken effect. */
export function writeError(error: unknown): QuorumscanError {
  if (isQuorumscanError(error)) return error
  return applicationFailed('What the application passed', error, { definite: false })
}
