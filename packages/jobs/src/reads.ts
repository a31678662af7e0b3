/** The reads of the ledger that several definitions share. */
import { assert } from '@quorumscan/base'
import type { Ledger } from '@quorumscan/ledger'
import type { Contract, ContractId } from '@quorumscan/model'

/** The contract, or null when it is not active: then there is nothing left to do for it. */
export async function activeContract(ledger: Ledger, id: ContractId): Promise<Contract | null> {
  return (await ledger.contracts([id]))[0] ?? null
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
