/** Pages through the proxy (D-11): what a token says, and when a walk is over for good. */

import { isScanError, ScanError } from '@quorumscan/errors'
import { type Offset, type PagePosition, type PageSubject, parsePageToken } from '@quorumscan/model'
import type { Outcome } from '@quorumscan/reader'
import type { Replica } from '@quorumscan/replica'

/**
 * Where the walk stands; null on the first page. Nobody is asked: every node gives the same token.
 *
 * @throws {ScanError} INVALID_PAGE_TOKEN.
 */
export function pagePosition(
  genesisHash: string,
  subject: PageSubject,
  token: string | undefined,
): PagePosition | null {
  if (token === undefined) return null
  const position = parsePageToken(genesisHash, subject, token)
  if (position === undefined)
    throw new ScanError(
      'INVALID_PAGE_TOKEN',
      'The page token was not issued for this list: pass next_page_token of the page before, unchanged.',
    )
  return position
}

/**
 * OFFSET_PRUNED where a page that too few nodes answered lies below the own replica's horizon; null else.
 *
 * Nodes may say 410, but a status never votes (D-35): one liar could end a walk with it. The own replica
 * follows the same log by the same rule (D-10), so its horizon tells what to expect of theirs. It is asked
 * after them, because a node may still have what was just pruned here.
 */
export async function whyOver(
  replica: Pick<Replica, 'head' | 'pin'>,
  input: { readonly position: PagePosition | null; readonly outcome: Outcome },
  signal: AbortSignal,
): Promise<ScanError | null> {
  const { position, outcome } = input
  const isUnanswered = outcome.kind === 'lagging' || outcome.kind === 'insufficient'
  if (position === null || !isUnanswered) return null
  return (await isPruned(replica, position.offset, signal))
    ? new ScanError(
        'OFFSET_PRUNED',
        `The walk is over: offset ${position.offset} lies below the history horizon. Begin it anew.`,
      )
    : null
}

async function isPruned(
  replica: Pick<Replica, 'head' | 'pin'>,
  offset: Offset,
  signal: AbortSignal,
): Promise<boolean> {
  if (offset > replica.head().offset) return false
  try {
    await replica.pin(offset, signal)
    return false
  } catch (error) {
    if (isScanError(error, 'OFFSET_PRUNED')) return true
    throw error
  }
}
