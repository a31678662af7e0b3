/** Contracts as the scan and wallet surfaces show them. */
import { Type } from 'typebox'
import { about, nullable } from './members.ts'
import { ContractId, Time } from './scalars.ts'

export const Contract = Type.Object(
  {
    template_id: Type.String({ description: 'Its template: `<package id>:<Module>:<Entity>`.' }),
    contract_id: about(ContractId, 'The id of the contract: `00` and 64 hex digits.'),
    payload: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Its fields, as Daml-LF JSON.',
    }),
    created_event_blob: Type.String({
      description: 'base64; with it the contract can be disclosed to a command.',
    }),
    created_at: about(Time, 'When it was created.'),
  },
  { title: 'Contract', description: 'An active contract.' },
)

export const ContractWithState = Type.Object(
  { contract: Contract, domain_id: Type.String({ description: 'The synchronizer.' }) },
  { title: 'ContractWithState', description: 'A contract, and where it is.' },
)

/** For callers that name what they have. */
export const MaybeCachedContract = Type.Object(
  {
    contract: about(nullable(Contract), 'What is in force; null while the cached one is.'),
    domain_id: Type.String({ description: 'The synchronizer.' }),
  },
  { title: 'MaybeCachedContract', description: 'A contract, unless the caller has it.' },
)
