/** Addresses that callers pass. */
import { shownUrl, urlProblem } from '@quorumscan/reader'
import { invalidArgument } from '../errors.ts'

/**
 * @param what - The option, such as `seeds[1]`.
 * @param isSecure - Whether it must be https, or on this machine. Default: false.
 * @throws {QuorumscanError} INVALID_ARGUMENT with the option, the reason and the address, without a password.
 */
export function assertUrl(what: string, url: unknown, isSecure?: (url: string) => boolean): void {
  const problem =
    urlProblem(url) ??
    (isSecure?.(url as string) === false ? 'must be https, or http on this machine' : null)
  if (problem === null) return
  const shown = typeof url === 'string' ? `: ${shownUrl(url)}` : ''
  throw invalidArgument(`\`${what}\` ${problem}${shown}. An address is https://scan.example.com.`)
}
