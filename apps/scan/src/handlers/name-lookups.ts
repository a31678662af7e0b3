/** Lookups of names (D-8 to D-14) and activities (D-24, D-25). Bodies come ready from the replica. */
import type { BodyOf, scanRoutes } from '@quorumscan/api'
import { utf8 } from '@quorumscan/base'
import type { CertifiedAnswers } from '@quorumscan/certifier'
import { ScanError } from '@quorumscan/errors'
import { formatPageToken, type PageSubject, parsePageToken } from '@quorumscan/model'
import type { Pinned } from '@quorumscan/replica'
import type { Handlers, Reply } from '@quorumscan/server'
import { requestOfActivities } from '@quorumscan/verifier'
import {
  activitiesQuery,
  batchQuery,
  entriesQuery,
  type HashedNetwork,
  nameQuery,
  partyEntriesQuery,
  partyQuery,
  type RangeQuery,
} from '@quorumscan/verifier/certified'
import {
  type FormRequest,
  inEitherForm,
  pinAbove,
  pinAt,
  pinFor,
  pinnedHeaders,
  type ReadRequest,
  type Reads,
} from '../pinned.ts'

type Routes = typeof scanRoutes
type LookupHandlers = Pick<
  Handlers<Routes>,
  | 'listEntries'
  | 'getEntryByName'
  | 'getEntryByParty'
  | 'listEntriesByParty'
  | 'lookupEntries'
  | 'listActivities'
>

/** One lookup after validation: exactly one of `name` and `party`. It may still have unknown members. */
type Lookup = BodyOf<Routes['lookupEntries']>['lookups'][number]
type PageQuery = { readonly page_size: number; readonly page_token?: string }
type PageRequest = ReadRequest & FormRequest & { readonly query: PageQuery }

/** The answer of a lookup that finds nothing (D-10). */
const ABSENT = utf8('{"entry":null}')
const BEFORE_ENTRY = utf8('{"entry":')
const AFTER_ENTRY = utf8('}')
const COMMA = utf8(',')

export function createLookupHandlers(context: {
  readonly reads: Reads
  readonly certified: CertifiedAnswers
  readonly network: HashedNetwork
}): LookupHandlers {
  const { reads, network } = context
  const either = inEitherForm(context.certified)

  const getOne = async (lookup: Lookup, request: ReadRequest) => {
    const at = await pinFor(reads, request)
    const [entry = null] = isByName(lookup)
      ? await reads.lookups.lookupNames([lookup.name], at.offset)
      : await reads.lookups.lookupParties([lookup.party], at.offset)
    const headers = pinnedHeaders(at)
    return entry === null
      ? { error: notFound(lookup), headers }
      : { headers, body: answerOf(entry) }
  }

  const getPage = async (
    subject: PageSubject,
    request: PageRequest,
  ): Promise<Reply<Routes['listEntries']>> => {
    const { page_size: pageSize, page_token: token } = request.query
    const asked = request.headers['x-read-at-offset'] ?? null
    const position =
      token === undefined ? null : parsePageToken(network.genesisHash, subject, token)
    if (position === undefined) throw foreignToken()
    if (position !== null && asked !== null && asked !== position.offset)
      throw new ScanError(
        'INVALID_PAGE_TOKEN',
        `the page token belongs to offset ${position.offset}, x-read-at-offset is ${asked}`,
      )
    const at = await pinAt(reads, position?.offset ?? asked, request)
    const after = position?.after ?? null
    // One more than the page holds shows whether there is a next page.
    const range = { after, limit: pageSize + 1, offset: at.offset }
    const found =
      subject.kind === 'prefix'
        ? await reads.lookups.listByPrefix({ ...range, prefix: subject.prefix })
        : await reads.lookups.listByParty({ ...range, party: subject.party })
    const entries = found.slice(0, pageSize)
    const last = entries.at(-1)
    const next =
      found.length > pageSize && last !== undefined
        ? formatPageToken(network.genesisHash, subject, { after: last.name, offset: at.offset })
        : null
    const end = `],"next_page_token":${JSON.stringify(next)}}`
    return { headers: pinnedHeaders(at), body: jsonOf('{"entries":[', bodiesOf(entries), end) }
  }

  const askPage = (subject: PageSubject, query: PageQuery): RangeQuery<unknown> => {
    const page = { pageSize: query.page_size, pageToken: query.page_token ?? null }
    try {
      return subject.kind === 'prefix'
        ? entriesQuery(subject.prefix, page, network)
        : partyEntriesQuery(subject.party, page, network)
    } catch (error) {
      if (error instanceof RangeError) throw foreignToken()
      throw error
    }
  }

  const pages = <Request extends PageRequest>(subjectOf: (request: Request) => PageSubject) =>
    either(
      (request: Request) => askPage(subjectOf(request), request.query),
      (request: Request) => getPage(subjectOf(request), request),
    )

  return {
    getEntryByName: either(
      ({ params }) => nameQuery(params.name),
      (request) => getOne(request.params, request),
    ),
    getEntryByParty: either(
      ({ params }) => partyQuery(params.party, network),
      (request) => getOne(request.params, request),
    ),
    listEntries: pages(({ query }) => ({ kind: 'prefix', prefix: query.name_prefix ?? '' })),
    listEntriesByParty: pages(({ params }) => ({ kind: 'party', party: params.party })),
    lookupEntries: either(
      ({ body }) => batchQuery(body.lookups.map(onlyMember), network),
      async (request) => {
        const { at_offset: at = null, min_offset: floor, lookups } = request.body
        const pinned = await pinAbove(reads, { at, floor: floor ?? 0 }, request)
        const answers = await answerAll(reads, lookups, pinned)
        return { headers: pinnedHeaders(pinned), body: jsonOf('{"results":[', answers, ']}') }
      },
    ),
    listActivities: either(
      ({ body }) => activitiesQuery(activitiesPage(body), network),
      async (request) => {
        const { pageSize: limit, ...page } = activitiesPage(request.body)
        const at = await pinFor(reads, request)
        const rows = await reads.lookups.activities({ ...page, offset: at.offset, limit })
        return { headers: pinnedHeaders(at), body: jsonOf('{"activities":[', bodiesOf(rows), ']}') }
      },
    ),
  }
}

function activitiesPage(body: Parameters<typeof requestOfActivities>[0]) {
  const { page_size: pageSize, begin_after_id, sort_order } = requestOfActivities(body).parameters
  return { pageSize, after: begin_after_id, order: sort_order }
}

/** The schema admits exactly one of `name` and `party` (D-14). */
function isByName(lookup: Lookup): lookup is { name: string } {
  return 'name' in lookup
}

/** Removes unknown members (D-7). */
function onlyMember(lookup: Lookup): Lookup {
  return isByName(lookup) ? { name: lookup.name } : { party: lookup.party }
}

/** One answer for each lookup, in order. */
async function answerAll(reads: Reads, lookups: readonly Lookup[], at: Pinned) {
  const names = lookups.flatMap((lookup) => (isByName(lookup) ? [lookup.name] : []))
  const parties = lookups.flatMap((lookup) => (isByName(lookup) ? [] : [lookup.party]))
  const [byName, byParty] = await Promise.all([
    names.length === 0 ? [] : reads.lookups.lookupNames(names, at.offset),
    parties.length === 0 ? [] : reads.lookups.lookupParties(parties, at.offset),
  ])
  let nameIndex = 0
  let partyIndex = 0
  return lookups.map((lookup) => {
    const entry = (isByName(lookup) ? byName[nameIndex++] : byParty[partyIndex++]) ?? null
    return entry === null ? ABSENT : answerOf(entry)
  })
}

function answerOf(entry: Uint8Array): Uint8Array {
  return Buffer.concat([BEFORE_ENTRY, entry, AFTER_ENTRY])
}

function bodiesOf(rows: readonly { readonly body: Uint8Array }[]): readonly Uint8Array[] {
  return rows.map(({ body }) => body)
}

/** The bodies as the items of a JSON array. */
function jsonOf(before: string, bodies: readonly Uint8Array[], after: string): Uint8Array {
  const items = bodies.flatMap((body, index) => (index === 0 ? [body] : [COMMA, body]))
  return Buffer.concat([utf8(before), ...items, utf8(after)])
}

function foreignToken(): ScanError {
  const message =
    'the page token was not issued for this list: pass next_page_token of the page before, unchanged'
  return new ScanError('INVALID_PAGE_TOKEN', message)
}

/** D-13. */
function notFound(lookup: Lookup): ScanError {
  const subject = isByName(lookup) ? `name: ${lookup.name}` : `party: ${lookup.party}`
  return new ScanError('ENTRY_NOT_FOUND', `No ans entry found for ${subject}`)
}
