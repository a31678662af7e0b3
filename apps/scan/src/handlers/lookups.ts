/** Name lookups (D-8 to D-14). Bodies come ready from the replica and are only put together here. */
import type { scanRoutes } from '@quorumscan/api'
import { utf8 } from '@quorumscan/base'
import { type CertifiedAnswers, isCertified } from '@quorumscan/certifier'
import { ScanError } from '@quorumscan/errors'
import { formatPageToken, type PageSubject, parsePageToken } from '@quorumscan/model'
import type { Pinned } from '@quorumscan/replica'
import { type Handlers, type Reply, type WaitingRequest, withWaitOf } from '@quorumscan/server'
import {
  askBatch,
  askEntries,
  askEntriesOfParty,
  askName,
  askParty,
  type HashedNetwork,
  type Question,
} from '@quorumscan/verifier/certified'
import {
  commaSeparated,
  pinAbove,
  pinAt,
  pinnedHeaders,
  type ReadHeaders,
  type Reads,
} from '../pinned.ts'
import { isByName, type Lookup } from './lookup.ts'

type Routes = typeof scanRoutes
type LookupHandlers = Pick<
  Handlers<Routes>,
  'listEntries' | 'getEntryByName' | 'getEntryByParty' | 'listEntriesByParty' | 'lookupEntries'
>

type PageQuery = { readonly page_size: number; readonly page_token?: string }

/** The answer of a lookup that finds nothing (D-10). */
const ABSENT = utf8('{"entry":null}')
const BEFORE_ENTRY = utf8('{"entry":')
const AFTER_ENTRY = utf8('}')
const BEFORE_RESULTS = utf8('{"results":[')
const AFTER_RESULTS = utf8(']}')

export function createLookupHandlers(context: {
  readonly reads: Reads
  readonly certified: CertifiedAnswers
  readonly network: HashedNetwork
}): LookupHandlers {
  const { reads, certified, network } = context

  const getOne = async (
    lookup: Lookup,
    request: WaitingRequest & { readonly headers: ReadHeaders },
  ): Promise<Reply<Routes['getEntryByName']>> => {
    const { headers: asked } = request
    const at = await pinAt(reads, asked['x-read-at-offset'] ?? null, request)
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
    request: WaitingRequest & { readonly query: PageQuery; readonly headers: ReadHeaders },
  ): Promise<Reply<Routes['listEntries']>> => {
    const { page_size: pageSize, page_token: token } = request.query
    const asked = request.headers['x-read-at-offset'] ?? null
    const position =
      token === undefined ? null : parsePageToken(network.genesisHash, subject, token)
    if (position === undefined) throw foreignToken()
    if (position !== null && asked !== null && asked !== position.offset)
      throw new ScanError(
        'INVALID_PAGE_TOKEN',
        `the page token belongs to offset ${position.offset}, x-read-at-offset says ${asked}`,
      )
    const at = await pinAt(reads, position?.offset ?? asked, request)
    const after = position?.after ?? null
    // One more than asked for says whether there is a next page.
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
    const body = Buffer.concat([
      utf8('{"entries":['),
      ...commaSeparated(entries.map((entry) => entry.body)),
      utf8(`],"next_page_token":${JSON.stringify(next)}}`),
    ])
    return { headers: pinnedHeaders(at), body }
  }

  const askPage = (subject: PageSubject, query: PageQuery): Question<unknown> => {
    const page = { pageSize: query.page_size, pageToken: query.page_token ?? null }
    try {
      return subject.kind === 'prefix'
        ? askEntries(subject.prefix, page, network)
        : askEntriesOfParty(subject.party, page, network)
    } catch (error) {
      if (error instanceof RangeError) throw foreignToken()
      throw error
    }
  }

  return {
    getEntryByName: (request) => {
      const { name } = request.params
      return isCertified(request)
        ? certified.document(askName(name), request)
        : getOne({ name }, request)
    },
    getEntryByParty: (request) => {
      const { party } = request.params
      return isCertified(request)
        ? certified.document(askParty(party, network), request)
        : getOne({ party }, request)
    },
    listEntries: (request) => {
      const prefix = request.query.name_prefix ?? ''
      return isCertified(request)
        ? certified.document(askPage({ kind: 'prefix', prefix }, request.query), request)
        : getPage({ kind: 'prefix', prefix }, request)
    },
    listEntriesByParty: (request) => {
      const { party } = request.params
      return isCertified(request)
        ? certified.document(askPage({ kind: 'party', party }, request.query), request)
        : getPage({ kind: 'party', party }, request)
    },
    async lookupEntries(request) {
      const { body } = request
      if (isCertified(request)) {
        const lookups = body.lookups.map((lookup) =>
          isByName(lookup) ? { name: lookup.name } : { party: lookup.party },
        )
        return certified.document(askBatch(lookups, network), withWaitOf(request, { query: body }))
      }
      const asked = { at: body.at_offset ?? null, floor: body.min_offset ?? 0 }
      const at = await pinAbove(reads, asked, request)
      const answers = await answerAll(reads, body.lookups, at)
      return {
        headers: pinnedHeaders(at),
        body: Buffer.concat([BEFORE_RESULTS, ...commaSeparated(answers), AFTER_RESULTS]),
      }
    },
  }
}

/** One answer for each lookup, in order, whatever way the lookup came. */
async function answerAll(
  reads: Reads,
  lookups: readonly Lookup[],
  at: Pinned,
): Promise<readonly Uint8Array[]> {
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

function foreignToken(): ScanError {
  return new ScanError(
    'INVALID_PAGE_TOKEN',
    'the page token was not issued for this list: pass next_page_token of the page before, unchanged',
  )
}

/** D-13. */
function notFound(lookup: Lookup): ScanError {
  return new ScanError(
    'ENTRY_NOT_FOUND',
    isByName(lookup)
      ? `No ans entry found for name: ${lookup.name}`
      : `No ans entry found for party: ${lookup.party}`,
  )
}
