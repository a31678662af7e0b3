/** The operator's contracts that the wallet's commands name, and the price in force. */
import { assert } from '@quorumscan/base'
import { type Ledger, openMiningRound, payloadOf } from '@quorumscan/ledger'
import type { Amount, Contract } from '@quorumscan/model'

export async function singleton(
  ledger: Ledger,
  entity: 'AnsRules' | 'CoinRules',
): Promise<Contract> {
  const [contract] = await ledger.contractsByKey(`singleton:${entity}`, { limit: 1 })
  assert(contract !== undefined, `the genesis creates ${entity}, and it is never without`)
  return contract
}

/** The open round with the highest number, whose price is in force (D-22). `price` is USD for one coin. */
export async function newestRound(
  ledger: Ledger,
): Promise<{ readonly number: number; readonly price: Amount }> {
  const rounds = (await ledger.contractsByKey('rounds')).map((contract) =>
    payloadOf(openMiningRound, contract),
  )
  const [first, ...others] = rounds
  assert(first !== undefined, 'rounds are open from the genesis on')
  const newest = others.reduce((a, b) => (b.round.number > a.round.number ? b : a), first)
  return { number: newest.round.number, price: newest.coinPrice }
}
