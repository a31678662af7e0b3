/** Rules and rounds of the coin, in the shapes of upstream's nodes and of its scan proxy (D-16). */
import {
  CachedContractId,
  CachedDomainId,
  ContractWithState,
  MaybeCachedContract,
} from './contracts.ts'
import * as m from './members.ts'
import { ContractIdInput } from './scalars.ts'

/** Three rounds are open at a time; a longer list contains old rounds. */
const CACHED_ROUNDS_MAX = 100

export const AmuletRulesRequest = m.component('AmuletRulesRequest', 'The cached contract ids.', {
  cached_amulet_rules_contract_id: CachedContractId,
  cached_amulet_rules_domain_id: CachedDomainId,
})

export const AmuletRulesAnswer = m.component('AmuletRulesAnswer', 'The rules of coin.', {
  amulet_rules_update: m.about(MaybeCachedContract, 'The current rules.'),
})

const cachedIds = (what: string) => m.array(what, ContractIdInput, { maxItems: CACHED_ROUNDS_MAX })

export const MiningRoundsRequest = m.component('MiningRoundsRequest', 'The cached contract ids.', {
  cached_open_mining_round_contract_ids: cachedIds('The open rounds that the caller has cached.'),
  cached_issuing_round_contract_ids: cachedIds('The issuing rounds that the caller has cached.'),
})

const roundsById = (what: string) => m.record(what, MaybeCachedContract)

export const MiningRoundsAnswer = m.component('MiningRoundsAnswer', 'The rounds of coin.', {
  time_to_live_in_microseconds: m.integer(0, 'Until the next round can be opened.'),
  open_mining_rounds: roundsById('The open rounds by contract id, the newest first.'),
  issuing_mining_rounds: roundsById('Always empty: rewards are paid when a round closes.'),
})

export const AmuletRulesProxyAnswer = m.component('AmuletRulesProxyAnswer', 'The rules of coin.', {
  amulet_rules: m.about(ContractWithState, 'The current rules.'),
})

export const MiningRoundsProxyAnswer = m.component(
  'MiningRoundsProxyAnswer',
  'The rounds of coin.',
  {
    open_mining_rounds: m.array('The open rounds, the newest first.', ContractWithState),
    issuing_mining_rounds: m.array(
      'Always empty: rewards are paid when a round closes.',
      ContractWithState,
    ),
  },
)
