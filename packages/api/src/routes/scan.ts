/** The scan node: lookups, rules, the network (D-8 to D-16). Public, without authentication. */
import type { ErrorCode } from '@quorumscan/errors'
import { Type } from 'typebox'
import { activitiesCost, batchCost, COST_LOOKUP, pageCost } from '../cost.ts'
import { defineRoutes } from '../route-def.ts'
import { ActivitiesAnswer, ActivitiesRequest } from '../schemas/activities.ts'
import {
  AnsRulesAnswer,
  AnsRulesRequest,
  BatchAnswer,
  batchMembers,
  EntryAnswer,
  EntryPage,
  listByPartyQuery,
  listQuery,
} from '../schemas/entries.ts'
import { DsoAnswer, DsoPartyIdAnswer, GenesisAnswer, ScansAnswer } from '../schemas/network.ts'
import { LedgerOffset, LookupName, Party } from '../schemas/scalars.ts'
import { healthRoutes } from './health.ts'

const pinErrors = [
  'OFFSET_NOT_REACHED',
  'OFFSET_PRUNED',
  'NOT_READY',
  'LOG_REGRESSED',
  'DEPENDENCY_UNAVAILABLE',
] as const satisfies readonly ErrorCode[]

/** A read at one offset (D-10). */
const pinned = {
  auth: 'none',
  headers: Type.Object({ 'x-read-at-offset': Type.Optional(LedgerOffset) }),
  responseHeaders: ['ledger'],
  errors: pinErrors,
} as const

export const scanRoutes = {
  ...healthRoutes,
  ...defineRoutes({
    listEntries: {
      ...pinned,
      tag: 'lookup',
      method: 'GET',
      path: '/v0/ans-entries',
      summary: 'Entries whose name starts with a prefix, in byte order of the name.',
      query: Type.Object(listQuery),
      response: EntryPage,
      errors: [...pinErrors, 'INVALID_PAGE_TOKEN', 'OVERLOADED'],
      cost: pageCost,
    },
    getEntryByName: {
      ...pinned,
      tag: 'lookup',
      method: 'GET',
      path: '/v0/ans-entries/by-name/{name}',
      summary: 'The live entry of a name.',
      params: Type.Object({ name: LookupName }),
      response: EntryAnswer,
      errors: [...pinErrors, 'ENTRY_NOT_FOUND'],
      cost: COST_LOOKUP,
    },
    getEntryByParty: {
      ...pinned,
      tag: 'lookup',
      method: 'GET',
      path: '/v0/ans-entries/by-party/{party}',
      summary: 'The entry that stands for a party: its synthetic one, else its lowest live name.',
      params: Type.Object({ party: Party }),
      response: EntryAnswer,
      errors: [...pinErrors, 'ENTRY_NOT_FOUND', 'INVALID_PARTY'],
      cost: COST_LOOKUP,
    },
    listEntriesByParty: {
      ...pinned,
      tag: 'lookup',
      method: 'GET',
      path: '/v0/ans-entries/by-party/{party}/all',
      summary: 'All live entries of a party, in byte order of the name.',
      params: Type.Object({ party: Party }),
      query: Type.Object(listByPartyQuery),
      response: EntryPage,
      errors: [...pinErrors, 'INVALID_PARTY', 'INVALID_PAGE_TOKEN', 'OVERLOADED'],
      cost: pageCost,
    },
    lookupEntries: {
      ...pinned,
      tag: 'lookup',
      method: 'POST',
      path: '/v0/ans-entries/batch',
      summary: 'Up to 256 lookups, answered in their order at one offset.',
      headers: Type.Object({}),
      body: Type.Object({ ...batchMembers, at_offset: Type.Optional(LedgerOffset) }),
      acceptsTextPlain: true,
      response: BatchAnswer,
      errors: [...pinErrors, 'INVALID_PARTY'],
      cost: batchCost,
    },
    listActivities: {
      ...pinned,
      tag: 'activities',
      method: 'POST',
      path: '/v0/activities',
      summary:
        'Taps, mints, transfers and offers that came to nothing, in order of their event ids.',
      description:
        'A walk goes on with the event_id of its last row until a page is empty: where rows are large, a page has fewer than page_size. It never skips or repeats a row, also while new ones arrive. Rows are kept for the retention of the genesis, counted in record time before the offset that is read.',
      body: ActivitiesRequest,
      response: ActivitiesAnswer,
      cost: activitiesCost,
    },
    getAnsRules: {
      ...pinned,
      tag: 'network',
      method: 'POST',
      path: '/v0/ans-rules',
      summary: 'The rules of the name service, unless the cached ones are current.',
      body: AnsRulesRequest,
      response: AnsRulesAnswer,
      cost: COST_LOOKUP,
    },
    getDsoPartyId: {
      ...pinned,
      tag: 'network',
      method: 'GET',
      path: '/v0/dso-party-id',
      summary: 'The operator party.',
      response: DsoPartyIdAnswer,
      cost: COST_LOOKUP,
    },
    getDso: {
      ...pinned,
      tag: 'network',
      method: 'GET',
      path: '/v0/dso',
      summary: 'The operator party, its rules, and the answering node.',
      query: Type.Object({ shared: Type.Optional(Type.Boolean()) }),
      response: DsoAnswer,
      cost: COST_LOOKUP,
    },
    listScans: {
      ...pinned,
      tag: 'network',
      method: 'GET',
      path: '/v0/scans',
      summary: 'The signed addresses of all scan nodes.',
      response: ScansAnswer,
      cost: COST_LOOKUP,
    },
    getGenesis: {
      tag: 'network',
      method: 'GET',
      path: '/v0/genesis',
      summary: 'The genesis document.',
      response: GenesisAnswer,
      auth: 'none',
      errors: [],
      cost: COST_LOOKUP,
    },
  }),
} as const
