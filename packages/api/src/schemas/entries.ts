/** Name entries and the lookups that find them (D-8, D-11, D-14). */
import { Type } from 'typebox'
import { MaybeCachedContract } from './contracts.ts'
import { about, component, nullable, optional } from './members.ts'
import {
  BATCH_LOOKUPS_MAX,
  ContractId,
  ContractIdInput,
  LedgerOffset,
  LookupName,
  PageSize,
  PageToken,
  Party,
  Time,
  WellFormedText,
} from './scalars.ts'

const AnsEntry = component(
  'AnsEntry',
  'A live entry; contract_id and expires_at are null for those of the operator and the super-validators.',
  {
    contract_id: about(nullable(ContractId), 'The AnsEntry contract; a renewal makes a new one.'),
    user: about(Party, 'The owner.'),
    name: Type.String({ description: 'The whole name, such as `alice.unverified.ns`.' }),
    url: Type.String({ description: 'As given at registration; may be empty.' }),
    description: Type.String({ description: 'As given at registration; may be empty.' }),
    expires_at: about(
      nullable(Time),
      'From this record time on the entry is gone, unless renewed.',
    ),
  },
)

export const EntryAnswer = component('EntryAnswer', 'The entry that was looked for.', {
  entry: AnsEntry,
})

export const EntryPage = component('EntryPage', 'A page of entries.', {
  entries: Type.Array(AnsEntry, { description: 'In byte order of the name.' }),
  next_page_token: about(nullable(Type.String()), 'Asks for the next page; null on the last.'),
})

/** With both members nobody could say which of the two is asked for. */
const Lookup = Type.Union([Type.Object({ name: LookupName }), Type.Object({ party: Party })], {
  title: 'Lookup',
  description: 'By name or by party, not both.',
  not: { required: ['name', 'party'] },
})

const lookups = Type.Array(Lookup, {
  maxItems: BATCH_LOOKUPS_MAX,
  description: 'What to look for.',
})

export const BatchAnswer = component('BatchAnswer', 'One result for each lookup, in its order.', {
  results: Type.Array(
    Type.Object({ entry: about(nullable(AnsEntry), 'The entry, or null for none.') }),
    { description: 'One for each lookup, in its order.' },
  ),
})

export const listQuery = {
  name_prefix: Type.Optional(
    about(LookupName, 'What names begin with, case-sensitive; empty for all.'),
  ),
  page_size: PageSize,
  page_token: Type.Optional(PageToken),
}

export const listByPartyQuery = { page_size: PageSize, page_token: Type.Optional(PageToken) }

export const batchMembers = {
  lookups,
  min_offset: optional(LedgerOffset, 'Read no older offset than this.'),
}

export const ansRulesMembers = {
  cached_ans_rules_contract_id: optional(ContractIdInput, 'The contract that the caller has.'),
  cached_ans_rules_domain_id: optional(WellFormedText, 'The synchronizer that the caller knows.'),
}

export const AnsRulesRequest = component(
  'AnsRulesRequest',
  'What the caller has of them.',
  ansRulesMembers,
)

export const AnsRulesAnswer = component('AnsRulesAnswer', 'The rules of the name service.', {
  ans_rules_update: about(
    MaybeCachedContract,
    'What is in force: fee, lifetime and renewal window of names.',
  ),
})
