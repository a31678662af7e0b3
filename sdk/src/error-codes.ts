/** Which texts are codes of errors. */
import { clientErrorCodes } from './client-error-codes.ts'
import type { ErrorCode } from './errors.ts'
import { serverErrorCodes } from './generated/error-codes.ts'

/** Whether the text is a code that this version of the SDK knows. */
export function isErrorCode(code: unknown): code is ErrorCode {
  const known: readonly unknown[] = [...serverErrorCodes, ...Object.keys(clientErrorCodes)]
  return known.includes(code)
}
