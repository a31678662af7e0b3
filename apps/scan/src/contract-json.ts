/** Contracts as the scan surface shows them. */

import { contractBlob } from '@quorumscan/ledger'
import { type Contract, formatTime } from '@quorumscan/model'

export type ContractWithState = {
  readonly contract: {
    readonly template_id: string
    readonly contract_id: string
    readonly payload: Contract['payload']
    readonly created_event_blob: string
    readonly created_at: string
  }
  readonly domain_id: string
}

/** `domainId` is the one synchronizer, which every contract is assigned to. */
export function contractWithState(contract: Contract, domainId: string): ContractWithState {
  return {
    contract: {
      template_id: contract.templateId,
      contract_id: contract.contractId,
      payload: contract.payload,
      created_event_blob: Buffer.from(contractBlob(contract)).toString('base64'),
      created_at: formatTime(contract.createdAt),
    },
    domain_id: domainId,
  }
}
