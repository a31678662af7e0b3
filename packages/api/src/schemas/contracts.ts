/** Contracts as the scan and wallet surfaces show them. */
import { Type } from 'typebox'
import { ContractId, Time } from './scalars.ts'

export const Contract = Type.Object(
  {
    template_id: Type.String({ description: '`<package id>:<Module>:<Entity>`.' }),
    contract_id: ContractId,
    payload: Type.Record(Type.String(), Type.Unknown(), { description: 'Daml-LF JSON.' }),
    created_event_blob: Type.String({
      description: 'base64; with it the contract can be disclosed to a command.',
    }),
    created_at: Time,
  },
  { title: 'Contract' },
)

export const ContractWithState = Type.Object(
  { contract: Contract, domain_id: Type.String({ description: 'The synchronizer.' }) },
  { title: 'ContractWithState' },
)
