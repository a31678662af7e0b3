/**
 * Lists of entries as ranges of the state tree. The proof of a page includes the visible leaf after it, or the end of its
 * list. So no entry is left out, and the reader itself finds whether a next page exists.
 */
import { utf8 } from '../encoding/bytes.ts'
import { compareKeys } from '../proof/bits.ts'
import type { KeyRange } from '../proof/prune.ts'
import { type HashedNetwork, ofUser, syntheticNameOf } from './lookups.ts'
import {
  formatPageToken,
  type PagePosition,
  type PageSubject,
  parsePageToken,
} from './page-token.ts'
import { type CertifiedEntry, canBeInKey, entryOf, type RangeQuery, rangeUnder } from './query.ts'

export type CertifiedPage = {
  readonly entries: readonly CertifiedEntry[]
  readonly next_page_token: string | null
}

/** Which page of a list. */
export type PageRequest = {
  /** 1 or more. */
  readonly pageSize: number
  /** `next_page_token` of the page before; null: the first page. */
  readonly pageToken: string | null
}

/**
 * Visible entries whose names begin with a prefix, in byte order.
 *
 * @throws {RangeError} If the token was not issued for this list.
 */
export function entriesQuery(prefix: string, { ...page }: PageRequest, network: HashedNetwork) {
  const subject = { kind: 'prefix', prefix } as const
  const position = positionOf(subject, page, network)
  const beginning = utf8(`n\0${prefix}`)
  const range = {
    from: position === null ? beginning : afterKeys(['n', position.after]),
    to: successorOf(beginning),
    limit: page.pageSize + 1,
  }
  const ranges = canBeInKey(prefix) ? [range] : []
  return pageQuery({ subject, page, position, network, ranges })
}

/**
 * All visible entries of a party, its synthetic one included, in byte order of the names.
 *
 * @throws {RangeError} If the token was not issued for this list.
 */
export function partyEntriesQuery(party: string, { ...page }: PageRequest, network: HashedNetwork) {
  const subject = { kind: 'party', party } as const
  const position = positionOf(subject, page, network)
  const all = rangeUnder(['p', party], page.pageSize + 1)
  const from = position === null ? all.from : afterKeys(['p', party, position.after])
  const ranges: KeyRange[] = canBeInKey(party) ? [{ ...all, from }] : []
  // It has no key under the party, and is sorted in with the others.
  const synthetic = syntheticNameOf(party, network)
  if (synthetic !== null && (position === null || compareNames(synthetic, position.after) > 0))
    ranges.push(rangeUnder(['n', synthetic], 1))
  return pageQuery({ subject, page, position, network, ranges })
}

function pageQuery(list: {
  readonly subject: PageSubject
  readonly page: PageRequest
  readonly position: PagePosition | null
  readonly network: HashedNetwork
  readonly ranges: readonly KeyRange[]
}): RangeQuery<CertifiedPage> {
  const { subject, page, position, network, ranges } = list
  return {
    ranges,
    offset: position?.offset ?? null,
    answer(runs, offset) {
      const found = runs.flat().map(entryOf)
      if (subject.kind === 'party') for (const entry of found) ofUser(subject.party, entry)
      if (runs.length > 1) found.sort((a, b) => compareNames(a.name, b.name))
      const entries = found.slice(0, page.pageSize)
      const after = entries.at(-1)?.name
      const isLast = found.length <= page.pageSize || after === undefined
      const next = isLast ? null : formatPageToken(network, subject, { after, offset })
      return { entries, next_page_token: next }
    },
  }
}

/** The position after which the page starts; null: at the first name. */
function positionOf(
  subject: PageSubject,
  { pageSize, pageToken }: PageRequest,
  network: HashedNetwork,
): PagePosition | null {
  if (!Number.isSafeInteger(pageSize) || pageSize < 1)
    throw new RangeError('a page has at least one entry')
  if (pageToken === null) return null
  const position = parsePageToken(network, subject, pageToken)
  if (position === undefined) throw new RangeError('the page token was not issued for this list')
  return position
}

/** The least bytes after all keys that begin with these components. */
function afterKeys(components: readonly string[]): Uint8Array {
  return rangeUnder(components, 1).to
}

/** The least bytes after all that begin with these, whose last byte is UTF-8, and so not 255. */
function successorOf(beginning: Uint8Array): Uint8Array {
  const successor = beginning.slice()
  successor[successor.length - 1] = (successor.at(-1) as number) + 1
  return successor
}

function compareNames(a: string, b: string): number {
  return compareKeys(utf8(a), utf8(b))
}
