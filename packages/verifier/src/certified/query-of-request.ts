/** Requests as they are stored and signed (`statements/canonical-request.ts`), as queries of the certified state. */
import type { CanonicalRequest, Lookup } from '../statements/canonical-request.ts'
import { activitiesQuery } from './activities.ts'
import { entriesQuery, type PageRequest, partyEntriesQuery } from './lists.ts'
import { batchQuery, type HashedNetwork, nameQuery, partyQuery } from './lookups.ts'
import { type ActivitiesPage, networkQuery, type StateQuery } from './query.ts'

/**
 * The query of a request, which may come from a file: what it needs is checked, and all else is refused.
 *
 * @throws {RangeError} If the certified state does not answer it.
 */
export function queryOf(request: CanonicalRequest, network: HashedNetwork): StateQuery<unknown> {
  const { operation } = request
  const parameters = { ...request.parameters }
  if (!isCertifiedOperation(operation))
    throw new RangeError(`there is no certified answer to ${operation}`)
  const form: CertifiedForm = CERTIFIED_FORMS[operation]
  if (Object.keys(parameters).sort().join() !== form.parameters.join())
    throw new RangeError(`${operation} has other parameters: ${form.parameters.join(', ')}`)
  return form.query(parameters, network)
}

type Parameters = CanonicalRequest['parameters']

type CertifiedForm = {
  /** Sorted. */
  readonly parameters: readonly string[]
  query(parameters: Parameters, network: HashedNetwork): StateQuery<unknown>
}

/** The operations whose answers are certified, each with the query that it stands for. */
const CERTIFIED_FORMS = {
  getEntryByName: { parameters: ['name'], query: (p) => nameQuery(text(p, 'name')) },
  getEntryByParty: {
    parameters: ['party'],
    query: (p, network) => partyQuery(text(p, 'party'), network),
  },
  lookupEntries: {
    parameters: ['lookups'],
    query: (p, network) => batchQuery(lookupsOf(p['lookups']), network),
  },
  listEntries: {
    parameters: ['name_prefix', 'page_size', 'page_token'],
    query: (p, network) => entriesQuery(text(p, 'name_prefix'), pageOf(p), network),
  },
  listEntriesByParty: {
    parameters: ['page_size', 'page_token', 'party'],
    query: (p, network) => partyEntriesQuery(text(p, 'party'), pageOf(p), network),
  },
  listActivities: {
    parameters: ['begin_after_id', 'page_size', 'sort_order'],
    query: (p, network) =>
      activitiesQuery(
        {
          pageSize: p['page_size'] as number,
          after: p['begin_after_id'] === null ? null : text(p, 'begin_after_id'),
          order: text(p, 'sort_order') as ActivitiesPage['order'],
        },
        network,
      ),
  },
  // Answers that differ between nodes are not certified.
  getDso: {
    parameters: ['shared'],
    query: (p) => onlyIf(p['shared'] === true, networkQuery('dso')),
  },
  // The whole of it, whatever the caller has.
  getAnsRules: {
    parameters: ['cached_ans_rules_contract_id', 'cached_ans_rules_domain_id'],
    query: (p) =>
      onlyIf(
        Object.values(p).every((value) => value === null),
        networkQuery('ans-rules'),
      ),
  },
  listScans: { parameters: [], query: () => networkQuery('scans') },
} satisfies Readonly<Record<string, CertifiedForm>>

function isCertifiedOperation(operation: string): operation is keyof typeof CERTIFIED_FORMS {
  return Object.hasOwn(CERTIFIED_FORMS, operation)
}

function onlyIf<T>(condition: boolean, stateQuery: T): T {
  if (condition) return stateQuery
  throw new RangeError('there is no certified answer with these parameters')
}

function pageOf(parameters: Parameters): PageRequest {
  const pageToken = parameters['page_token'] === null ? null : text(parameters, 'page_token')
  return { pageSize: parameters['page_size'] as number, pageToken }
}

function lookupsOf(value: unknown): readonly Lookup[] {
  if (!Array.isArray(value)) throw new RangeError('lookups are a list')
  return value.map((lookup) => {
    const members = Object.keys(lookup ?? {}).join()
    if (members === 'name') return { name: text(lookup, 'name') }
    if (members === 'party') return { party: text(lookup, 'party') }
    throw new RangeError('a lookup has a name or a party')
  })
}

function text(members: unknown, name: string): string {
  const value = (members as Readonly<Record<string, unknown>>)[name]
  if (typeof value === 'string') return value
  throw new RangeError(`${name} is not a text`)
}
