/** Contracts as the scan and wallet surfaces show them. */
import { Type } from 'typebox'
import { about, component, nullable } from './members.ts'
import { ContractId, Time } from './scalars.ts'

export const Contract = component('Contract', 'An active contract.', {
  template_id: Type.String({ description: 'Its template: `<package id>:<Module>:<Entity>`.' }),
  contract_id: about(ContractId, 'The id of the contract: `00` and 64 hex digits.'),
  payload: Type.Record(Type.String(), Type.Unknown(), {
    description: 'Its fields, as Daml-LF JSON.',
  }),
  created_event_blob: Type.String({
    description: 'base64; with it the contract can be disclosed to a command.',
  }),
  created_at: about(Time, 'When it was created.'),
})

export const ContractWithState = component('ContractWithState', 'A contract, and where it is.', {
  contract: Contract,
  domain_id: Type.String({ description: 'The synchronizer.' }),
})

/** For callers that name what they have. */
export const MaybeCachedContract = component(
  'MaybeCachedContract',
  'A contract, unless the caller has it.',
  {
    contract: about(nullable(Contract), 'What is in force; null while the cached one is.'),
    domain_id: Type.String({ description: 'The synchronizer.' }),
  },
)
