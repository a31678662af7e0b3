/** Rules and rounds of the coin, in the shapes of upstream's nodes and of its scan proxy (D-16). */
import { Type } from 'typebox'
import { ContractWithState, MaybeCachedContract } from './contracts.ts'
import { about, optional } from './members.ts'
import { ContractIdInput, WellFormedText } from './scalars.ts'

/** Three rounds are open at a time; whoever names more has old ones among them. */
const CACHED_ROUNDS_MAX = 100

export const AmuletRulesRequest = Type.Object(
  {
    cached_amulet_rules_contract_id: optional(ContractIdInput, 'The contract that the caller has.'),
    cached_amulet_rules_domain_id: optional(
      WellFormedText,
      'The synchronizer that the caller knows.',
    ),
  },
  { title: 'AmuletRulesRequest', description: 'What the caller has of them.' },
)

export const AmuletRulesAnswer = Type.Object(
  { amulet_rules_update: about(MaybeCachedContract, 'What is in force.') },
  { title: 'AmuletRulesAnswer', description: 'The rules of coin.' },
)

const cachedIds = (what: string) =>
  Type.Array(ContractIdInput, { maxItems: CACHED_ROUNDS_MAX, description: what })

export const MiningRoundsRequest = Type.Object(
  {
    cached_open_mining_round_contract_ids: cachedIds('The open rounds that the caller has.'),
    cached_issuing_round_contract_ids: cachedIds('The issuing rounds that the caller has.'),
  },
  { title: 'MiningRoundsRequest', description: 'What the caller has of them.' },
)

const roundsById = (what: string) =>
  Type.Record(Type.String(), MaybeCachedContract, { description: what })

export const MiningRoundsAnswer = Type.Object(
  {
    time_to_live_in_microseconds: Type.Integer({
      minimum: 0,
      description: 'Until the oldest open round may be closed, and another one opened.',
    }),
    open_mining_rounds: roundsById('The open rounds by contract id, the newest first.'),
    issuing_mining_rounds: roundsById(
      'Always empty: super-validators have their share when a round closes.',
    ),
  },
  { title: 'MiningRoundsAnswer', description: 'The rounds of coin.' },
)

export const AmuletRulesProxyAnswer = Type.Object(
  { amulet_rules: about(ContractWithState, 'What is in force.') },
  { title: 'AmuletRulesProxyAnswer', description: 'The rules of coin.' },
)

export const MiningRoundsProxyAnswer = Type.Object(
  {
    open_mining_rounds: Type.Array(ContractWithState, {
      description: 'The open rounds, the newest first.',
    }),
    issuing_mining_rounds: Type.Array(ContractWithState, {
      description: 'Always empty: super-validators have their share when a round closes.',
    }),
  },
  { title: 'MiningRoundsProxyAnswer', description: 'The rounds of coin.' },
)
