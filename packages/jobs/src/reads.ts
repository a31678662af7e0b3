/** The reads of the ledger that several definitions share. */
import { assert } from '@quorumscan/base'
import type { Ledger } from '@quorumscan/ledger'
import type { Contract, ContractId } from '@quorumscan/model'

/** The contract, or null when it is not active: then there is nothing left to do for it. */
export async function activeContract(ledger: Ledger, id: ContractId): Promise<Contract | null> {
  return (await ledger.contracts([id]))[0] ?? null
}

/** Those of the contracts that are active and of which `isWanted` says so, by one read. */
export async function selectActive(
  ledger: Ledger,
  ids: readonly ContractId[],
  isWanted: (contract: Contract) => boolean,
): Promise<readonly ContractId[]> {
  const contracts = await ledger.contracts(ids)
  return contracts.flatMap((contract) =>
    contract !== null && isWanted(contract) ? [contract.contractId] : [],
  )
}

/** The one contract of a template that exists from genesis on (D-29). */
export async function singleton(
  ledger: Ledger,
  entity: 'DsoRules' | 'AnsRules' | 'CoinRules',
): Promise<Contract> {
  const [contract] = await ledger.contractsByKey(`singleton:${entity}`, { limit: 1 })
  assert(contract !== undefined, `the ledger has no ${entity}`)
  return contract
}
