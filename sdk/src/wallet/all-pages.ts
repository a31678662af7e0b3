/** Lists of the wallet that are read page by page. */
import { failure, type QuorumscanError } from '../errors.ts'
import type { Http } from '../http/http.ts'
import type { CallOptions, Query } from './wallet-reads.ts'

/** Rows of a page of a list that is read to its end, at most. */
const PAGE_SIZE = 1000
/** Pages of such a list, at most: a million rows are more than a validator keeps for one user. */
export const PAGES_MAX = 1000

/** Options of the request of one page. */
export type PageRequest = CallOptions & { readonly query: Query }

/**
 * Reads pages until a page is the last one, or enough.
 *
 * @param read - Reads one page, with the time that is left of the call. It returns the token of the next page, or null.
 * @throws {QuorumscanError} INVALID_RESPONSE if the list has no end.
 */
export async function readPages(
  http: Pick<Http, 'timeLeft'>,
  { signal, timeoutMs, pagesMax }: CallOptions & { readonly pagesMax: number },
  read: (request: PageRequest) => Promise<string | null>,
): Promise<void> {
  const timeLeft = http.timeLeft(timeoutMs)
  let token: string | undefined
  for (let count = 0; count < pagesMax; count++) {
    const query = { page_token: token }
    const next = await read({ signal, timeoutMs: timeLeft(), query })
    if (next === null) return
    if (next === token) break
    token = next
  }
  throw endless()
}

/** The error of a list that repeats what it has shown, or never ends. */
export function endless(): QuorumscanError {
  return failure('INVALID_RESPONSE', 'The validator answers with a list that does not end.')
}

/** Reads a list to its end. @throws {QuorumscanError} As `readPages`. */
export async function allPages<Row>(
  http: Pick<Http, 'timeLeft'>,
  options: CallOptions,
  read: (
    request: PageRequest,
  ) => Promise<{ readonly rows: readonly Row[]; readonly next: string | null }>,
): Promise<readonly Row[]> {
  const found: Row[] = []
  await readPages(http, { ...options, pagesMax: PAGES_MAX }, async ({ query, ...call }) => {
    const { rows, next } = await read({ ...call, query: { ...query, page_size: PAGE_SIZE } })
    found.push(...rows)
    return next
  })
  return found
}
