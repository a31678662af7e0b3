/** Requests as they are stored and signed (`statements/canonical-request.ts`), as questions to the certified state. */
import type { CanonicalRequest, Lookup } from '../statements/canonical-request.ts'
import { askActivities } from './activities.ts'
import { askEntries, askEntriesOfParty, type PageRequest } from './lists.ts'
import { askBatch, askName, askParty, type HashedNetwork } from './lookups.ts'
import { type ActivitiesPage, type AnyQuestion, askNetwork } from './question.ts'

/**
 * The question of a request, which may come from a file: what it needs is checked, and all else is refused.
 *
 * @throws {RangeError} If the certified state does not answer it.
 */
export function questionOf(
  request: CanonicalRequest,
  network: HashedNetwork,
): AnyQuestion<unknown> {
  const { operation } = request
  const parameters = { ...request.parameters }
  if (!isCertifiedOperation(operation))
    throw new RangeError(`there is no certified answer to ${operation}`)
  const form: CertifiedForm = CERTIFIED_FORMS[operation]
  if (Object.keys(parameters).sort().join() !== form.parameters.join())
    throw new RangeError(`${operation} has other parameters: ${form.parameters.join(', ')}`)
  return form.ask(parameters, network)
}

type Parameters = CanonicalRequest['parameters']

type CertifiedForm = {
  /** Sorted. */
  readonly parameters: readonly string[]
  ask(parameters: Parameters, network: HashedNetwork): AnyQuestion<unknown>
}

/** The operations whose answers are certified, each with the question that it stands for. */
const CERTIFIED_FORMS = {
  getEntryByName: { parameters: ['name'], ask: (p) => askName(text(p, 'name')) },
  getEntryByParty: {
    parameters: ['party'],
    ask: (p, network) => askParty(text(p, 'party'), network),
  },
  lookupEntries: {
    parameters: ['lookups'],
    ask: (p, network) => askBatch(lookupsOf(p['lookups']), network),
  },
  listEntries: {
    parameters: ['name_prefix', 'page_size', 'page_token'],
    ask: (p, network) => askEntries(text(p, 'name_prefix'), pageOf(p), network),
  },
  listEntriesByParty: {
    parameters: ['page_size', 'page_token', 'party'],
    ask: (p, network) => askEntriesOfParty(text(p, 'party'), pageOf(p), network),
  },
  listActivities: {
    parameters: ['begin_after_id', 'page_size', 'sort_order'],
    ask: (p, network) =>
      askActivities(
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
    ask: (p) => onlyIf(p['shared'] === true, askNetwork('dso')),
  },
  // The whole of it, whatever the caller has.
  getAnsRules: {
    parameters: ['cached_ans_rules_contract_id', 'cached_ans_rules_domain_id'],
    ask: (p) =>
      onlyIf(
        Object.values(p).every((value) => value === null),
        askNetwork('ans-rules'),
      ),
  },
  listScans: { parameters: [], ask: () => askNetwork('scans') },
} satisfies Readonly<Record<string, CertifiedForm>>

function isCertifiedOperation(operation: string): operation is keyof typeof CERTIFIED_FORMS {
  return Object.hasOwn(CERTIFIED_FORMS, operation)
}

function onlyIf<T>(condition: boolean, question: T): T {
  if (condition) return question
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
