/** Rights as the ledger interface writes them (docs/upstream.md §L6.2), and pages of users and parties. */
import type { LedgerRight } from '@quorumscan/api'
import { isPartyId, type Right } from '@quorumscan/model'
import { invalidArgument, missingField, shown } from '../commands/grammar.ts'

const WITHOUT_PARTY = ['CanReadAsAnyParty', 'ParticipantAdmin', 'CanExecuteAsAnyParty'] as const

/** @throws {LedgerError} INVALID_ARGUMENT for a right that does not exist here. */
export function readRight({ kind }: LedgerRight): Right {
  if ('CanActAs' in kind) return { kind: 'CanActAs', party: readParty(kind.CanActAs) }
  if ('CanReadAs' in kind) return { kind: 'CanReadAs', party: readParty(kind.CanReadAs) }
  const plain = WITHOUT_PARTY.find((name) => name in kind)
  if (plain !== undefined) return { kind: plain }
  if ('Empty' in kind) throw missingField('rights.kind')
  // D-32: neither interactive submission nor further identity providers exist.
  throw invalidArgument(`this participant has no right ${Object.keys(kind)[0]}`)
}

function readParty({ value: { party } }: { readonly value: { readonly party: string } }): string {
  if (party === '') throw missingField('party')
  if (!isPartyId(party)) throw invalidArgument(`${shown(party)} is no party of this network`)
  return party
}

export function toLedgerRight(right: Right): LedgerRight {
  const value = 'party' in right ? { party: right.party } : {}
  // A variant has the name of the kind.
  return { kind: { [right.kind]: { value } } } as LedgerRight
}

/** The token is the last one of the page before. @throws {LedgerError} INVALID_ARGUMENT. */
export function readPage(
  query: { readonly pageSize?: number; readonly pageToken?: string },
  options: { readonly sizeMax: number; readonly isToken: (text: string) => boolean },
): { readonly after: string; readonly limit: number } {
  const { pageSize = 0, pageToken = '' } = query
  if (pageSize < 0 || pageSize > options.sizeMax)
    throw invalidArgument(`page_size lies between 0 and ${options.sizeMax}.`)
  const after = Buffer.from(pageToken, 'base64url').toString('utf8')
  if (pageToken !== '' && !options.isToken(after))
    throw invalidArgument('page_token was not issued by this participant.')
  return { after, limit: pageSize === 0 ? options.sizeMax : pageSize }
}

/** '' where the page was the last one. */
export function nextPageToken(
  page: readonly string[],
  { limit }: { readonly limit: number },
): string {
  return page.length < limit ? '' : Buffer.from(page.at(-1) ?? '').toString('base64url')
}
