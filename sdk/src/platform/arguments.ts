/** Checks of arguments, for programs without types. */
import { PAGE_SIZE_MAX } from '@quorumscan/verifier'
import { invalidArgument } from '../errors.ts'
import { shownValue } from './shown-value.ts'

/** @throws {QuorumscanError} INVALID_ARGUMENT unless it is a string. */
export function assertText(what: string, value: string): void {
  if (typeof value !== 'string')
    throw invalidArgument(`${what} must be a string, not ${shownValue(value)}.`)
}

/** @throws {QuorumscanError} INVALID_ARGUMENT unless it is an array of strings. */
export function assertTexts(what: string, values: readonly string[]): void {
  if (!Array.isArray(values))
    throw invalidArgument(`${what} must be an array of strings, not ${shownValue(values)}.`)
  for (const value of values) assertText(`each item of ${what}`, value)
}

/** @throws {QuorumscanError} INVALID_ARGUMENT unless it is from 1 to `max`. */
export function pageSizeOf(
  { pageSize = 100 }: { readonly pageSize?: number },
  max = PAGE_SIZE_MAX,
): number {
  if (Number.isInteger(pageSize) && pageSize >= 1 && pageSize <= max) return pageSize
  throw invalidArgument(
    `\`pageSize\` must be a whole number from 1 to ${max}, not ${shownValue(pageSize)}.`,
  )
}

/** @throws {QuorumscanError} INVALID_ARGUMENT unless it is a ledger offset. */
export function assertOffset(offset: number): void {
  if (!Number.isSafeInteger(offset) || offset < 0)
    throw invalidArgument(`An offset must be a whole number, 0 or more, not ${shownValue(offset)}.`)
}
