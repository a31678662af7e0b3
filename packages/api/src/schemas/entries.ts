/** Name entries and the lookups that find them (D-8, D-11, D-14). */
import { BATCH_LOOKUPS_MAX, FQPN_LENGTH_MAX, NETWORK_NAMES } from '@quorumscan/verifier'
import { Type } from 'typebox'
import { CachedContractId, CachedDomainId, MaybeCachedContract } from './contracts.ts'
import * as m from './members.ts'
import {
  ContractId,
  LedgerOffset,
  LookupName,
  PageToken,
  Party,
  pageSize,
  Time,
} from './scalars.ts'

const AnsEntry = m.component(
  'AnsEntry',
  'A live entry; contract_id and expires_at are null for entries of the operator and the super-validators.',
  {
    contract_id: m.orNull(ContractId, 'The AnsEntry contract; a renewal makes a new one.'),
    user: m.about(Party, 'The owner.'),
    name: m.string('The whole name, such as `alice.unverified.ns`.'),
    url: m.string('As given at registration; may be empty.'),
    description: m.string('As given at registration; may be empty.'),
    expires_at: m.orNull(Time, 'The record time at which it expires, unless it is renewed.'),
  },
)

export const EntryAnswer = m.component('EntryAnswer', 'The entry.', { entry: AnsEntry })

export const EntryPage = m.component('EntryPage', 'A page of entries.', {
  entries: m.array('In byte order of the name.', AnsEntry),
  next_page_token: m.nullableText('Asks for the next page; null on the last.'),
})

/** With both members the question would be ambiguous. */
const Lookup = Type.Union([Type.Object({ name: LookupName }), Type.Object({ party: Party })], {
  title: 'Lookup',
  description: 'By name or by party, not both.',
  not: { required: ['name', 'party'] },
})

export const BatchAnswer = m.component('BatchAnswer', 'One result for each lookup, in its order.', {
  results: m.rows('One for each lookup, in its order.', {
    entry: m.orNull(AnsEntry, 'The entry, or null for none.'),
  }),
})

export const listByPartyQuery = {
  page_size: pageSize('entries'),
  page_token: Type.Optional(PageToken),
}

export const listQuery = {
  name_prefix: m.omittable(LookupName, 'What names begin with, case-sensitive; empty for all.'),
  ...listByPartyQuery,
}

export const batchMembers = {
  lookups: m.array('What to look for.', Lookup, { maxItems: BATCH_LOOKUPS_MAX }),
  min_offset: m.optional(LedgerOffset, 'Read no older offset than this.'),
}

export const ansRulesMembers = {
  cached_ans_rules_contract_id: CachedContractId,
  cached_ans_rules_domain_id: CachedDomainId,
}

export const AnsRulesRequest = m.component(
  'AnsRulesRequest',
  'The cached contract ids.',
  ansRulesMembers,
)

export const AnsRulesAnswer = m.component('AnsRulesAnswer', 'The rules of the name service.', {
  ans_rules_update: m.about(MaybeCachedContract, 'Fee, lifetime and renewal window of names.'),
})

/** Members of requests and answers of the draft "Canton Party Name Resolution Standard" (2026-08-29; D-76). */
const network = m.about(Type.Enum(NETWORK_NAMES), 'The network of the name; a process serves one.')

export const PartyName = m.component('PartyName', 'A party with its name.', {
  fqpn: m.string('The qualified name, such as `localnet:cns:alice.unverified.ns`.'),
  party_id: m.about(Party, 'The party.'),
  display_name: m.string('What a user interface shows.'),
  valid_until: m.omittable(Time, 'Resolve it again after this time; absent: it does not end.'),
})

export const resolveQuery = {
  name: m.formed('^[!-~]+$', 'A name, a qualified name of `cns` or `party-id`, or a party.', {
    maxLength: FQPN_LENGTH_MAX,
  }),
  network,
}

export const reverseResolveQuery = { party: Party, network }

export const PartyNames = m.array('The name of the party; empty if it has none.', PartyName)
