/** Pages of users and parties: the token is the last one of the page before. */
import { LedgerError } from '@quorumscan/errors'

/** @throws {LedgerError} INVALID_ARGUMENT. */
export function readPage(
  query: { readonly pageSize?: number; readonly pageToken?: string },
  options: { readonly sizeMax: number; readonly isToken: (text: string) => boolean },
): { readonly after: string; readonly limit: number } {
  const { pageSize = 0, pageToken = '' } = query
  if (pageSize < 0 || pageSize > options.sizeMax)
    throw new LedgerError('INVALID_ARGUMENT', `page_size lies between 0 and ${options.sizeMax}.`)
  const after = Buffer.from(pageToken, 'base64url').toString('utf8')
  if (pageToken !== '' && !options.isToken(after))
    throw new LedgerError('INVALID_ARGUMENT', 'page_token was not issued by this participant.')
  return { after, limit: pageSize === 0 ? options.sizeMax : pageSize }
}

/** '' where the page was the last one. */
export function nextPageToken(
  page: readonly string[],
  { limit }: { readonly limit: number },
): string {
  return page.length < limit ? '' : Buffer.from(page.at(-1) ?? '').toString('base64url')
}
