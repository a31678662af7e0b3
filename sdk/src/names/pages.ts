/** Reads pages of entries one after the other. */
import { type CertifiedReadOptions, requestOfEntriesPage } from '@quorumscan/reader/certified'
import { type CertifiedPage, formatPageToken, sha256 } from '@quorumscan/verifier/certified'
import type { EntriesPage, ReadOutcome } from './bounded.ts'
import type { OpenedReader } from './open-reader.ts'

const RETRY_AFTER_MS = 250

/** A page of entries. If nodes no longer keep the offset of the walk, it continues after its last name at a newer one. */
export async function readEntriesPage(
  { reader, options }: OpenedReader,
  page: EntriesPage,
  read: CertifiedReadOptions,
): Promise<ReadOutcome<CertifiedPage>> {
  const { subject, after } = page
  let outcome = await reader.read(requestOfEntriesPage(page), read)
  if (outcome.kind === 'pruned' && after !== null) {
    const newest = requestOfEntriesPage({ subject, pageSize: 1, pageToken: null })
    const first = await reader.read(newest, read)
    if (!('answer' in first)) outcome = first
    else {
      const network = { ...options, sha256: options.sha256 ?? sha256 }
      const pageToken = formatPageToken(network, subject, { after, offset: first.offset })
      outcome = await reader.read(requestOfEntriesPage({ ...page, pageToken }), read)
    }
  }
  if (outcome.kind !== 'pruned') return outcome
  const newest = { wantedOffset: 0, headOffset: null, ageMs: null, retryAfterMs: RETRY_AFTER_MS }
  return { ...outcome, kind: 'lagging', reason: 'not-reached', ...newest }
}
