/** Checks of what a program without types passes in. */
import { PAGE_SIZE_MAX } from '@quorumscan/verifier'
import { invalidArgument } from '../errors.ts'

/** @throws {QuorumscanError} INVALID_ARGUMENT if it is no text. */
export function assertText(what: string, value: string): void {
  if (typeof value !== 'string') throw invalidArgument(`${what} is a text.`)
}

/** @throws {QuorumscanError} INVALID_ARGUMENT if they are no array of texts. */
export function assertTexts(what: string, values: readonly string[]): void {
  if (!Array.isArray(values)) throw invalidArgument(`${what} are an array of texts.`)
  for (const value of values) assertText(`each of ${what}`, value)
}

/** @throws {QuorumscanError} INVALID_ARGUMENT unless it is from 1 to `max`. */
export function pageSizeOf(
  { pageSize = 100 }: { readonly pageSize?: number },
  max = PAGE_SIZE_MAX,
): number {
  if (Number.isInteger(pageSize) && pageSize >= 1 && pageSize <= max) return pageSize
  throw invalidArgument(`pageSize is a whole number from 1 to ${max}.`)
}
