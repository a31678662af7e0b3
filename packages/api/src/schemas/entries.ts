/** Name entries and the lookups that find them (D-8, D-11, D-14). */
import { Type } from 'typebox'
import { ContractWithState } from './contracts.ts'
import {
  BATCH_LOOKUPS_MAX,
  ContractId,
  ContractIdInput,
  LedgerOffset,
  LookupName,
  PageSize,
  PageToken,
  Party,
  Signature,
  Time,
  WellFormedText,
} from './scalars.ts'

const nullable = <const Schema extends Type.TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()])

const AnsEntry = Type.Object(
  {
    contract_id: nullable(ContractId),
    user: Party,
    name: Type.String(),
    url: Type.String(),
    description: Type.String(),
    expires_at: nullable(Time),
  },
  {
    title: 'AnsEntry',
    description:
      'A live entry; contract_id and expires_at are null for those of the operator and the super-validators.',
  },
)

export const EntryAnswer = Type.Object({ entry: AnsEntry }, { title: 'EntryAnswer' })

export const EntryPage = Type.Object(
  {
    entries: Type.Array(AnsEntry),
    next_page_token: nullable(Type.String()),
  },
  { title: 'EntryPage', description: 'next_page_token is null on the last page.' },
)

/** With both members nobody could say which of the two is asked for. */
const Lookup = Type.Union([Type.Object({ name: LookupName }), Type.Object({ party: Party })], {
  title: 'Lookup',
  not: { required: ['name', 'party'] },
})

const lookups = Type.Array(Lookup, { maxItems: BATCH_LOOKUPS_MAX })

export const BatchAnswer = Type.Object(
  {
    results: Type.Array(Type.Object({ entry: nullable(AnsEntry) })),
    signatures: Type.Optional(Type.Array(Signature)),
  },
  {
    title: 'BatchAnswer',
    description:
      'One result for each lookup, in its order; from a node with `sign`, a signature for each too.',
  },
)

export const listQuery = {
  name_prefix: Type.Optional(LookupName),
  page_size: PageSize,
  page_token: Type.Optional(PageToken),
}

export const listByPartyQuery = { page_size: PageSize, page_token: Type.Optional(PageToken) }

export const batchMembers = { lookups, min_offset: Type.Optional(LedgerOffset) }

export const AnsRulesRequest = Type.Object(
  {
    cached_ans_rules_contract_id: Type.Optional(nullable(ContractIdInput)),
    cached_ans_rules_domain_id: Type.Optional(nullable(WellFormedText)),
  },
  { title: 'AnsRulesRequest' },
)

export const AnsRulesAnswer = Type.Object(
  {
    ans_rules_update: Type.Object({
      contract: nullable(ContractWithState.properties.contract),
      domain_id: Type.String(),
    }),
  },
  { title: 'AnsRulesAnswer', description: 'contract is null while the cached one is current.' },
)
