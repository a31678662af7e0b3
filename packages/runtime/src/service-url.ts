/** Addresses of other processes, as operators configure them. */
import { isAuthenticated } from '@quorumscan/reader'

/**
 * The address without a trailing slash.
 *
 * @throws {RangeError} If it is no URL, or one by which anybody on the way could answer: http beyond loopback.
 */
export function parseServiceUrl(text: string): string {
  if (!/^https?:\/\/[!-~]+$/.test(text) || !URL.canParse(text) || !isAuthenticated(text))
    throw new RangeError(`${JSON.stringify(text)} is no https address, nor http of this machine`)
  return text.replace(/\/+$/, '')
}
