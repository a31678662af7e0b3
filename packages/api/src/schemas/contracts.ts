/** Contracts as the scan and wallet surfaces show them. */
import { Type } from 'typebox'
import * as m from './members.ts'
import { ContractId, ContractIdInput, Time, WellFormedText } from './scalars.ts'

export const Contract = m.component('Contract', 'An active contract.', {
  template_id: m.string('Its template: `<package id>:<Module>:<Entity>`.'),
  contract_id: m.about(ContractId, 'The id of the contract: `00` and 64 hex digits.'),
  payload: m.record('Its fields, as Daml-LF JSON.', Type.Unknown()),
  created_event_blob: m.string('base64; with it the contract can be disclosed to a command.'),
  created_at: m.about(Time, 'When it was created.'),
})

export const ContractWithState = m.component('ContractWithState', 'A contract, and where it is.', {
  contract: Contract,
  domain_id: m.string('The synchronizer.'),
})

/** What a caller has in its cache. */
export const CachedContractId = m.optional(ContractIdInput, 'The contract that the caller has.')
export const CachedDomainId = m.optional(WellFormedText, 'The synchronizer that the caller knows.')

export const MaybeCachedContract = m.component(
  'MaybeCachedContract',
  'A contract, unless the caller has it.',
  {
    contract: m.orNull(Contract, 'The one in force; null if the caller has it.'),
    domain_id: m.string('The synchronizer.'),
  },
)
