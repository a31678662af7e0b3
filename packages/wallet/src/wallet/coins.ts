/** What a party holds, and coin out of nothing on a development network. */
import { ScanError } from '@quorumscan/errors'
import {
  coin,
  disclose,
  type Ledger,
  lockedCoin,
  payloadOf,
  tapCommand,
  toWireContract,
} from '@quorumscan/ledger'
import {
  type Amount,
  type Contract,
  type ContractId,
  ceilDivide,
  formatAmount,
  type PartyId,
  parseAmount,
} from '@quorumscan/model'
import type { Commander } from '@quorumscan/submit'
import {
  contractsOf,
  joinedContractsOf,
  newestRound,
  resultContractId,
  singleton,
  submitAs,
  type WalletLedger,
  type WalletUser,
} from '../ledger.ts'
import type { SpendableCoin } from './coin-selection.ts'

/** D-18: there are no holding fees. */
const NO_FEE = formatAmount(0n)

const TAP_RULE = 'must be a positive decimal in USD, small enough for the ledger'

type Holding = { readonly contract: Contract; readonly amount: Amount; readonly round: number }

function unlockedHolding(contract: Contract): Holding {
  const { amount } = payloadOf(coin, contract)
  return { contract, amount: amount.initialAmount, round: amount.createdAt.number }
}

/** Locked coin of which the party is the owner, not only a holder of the lock. */
function lockedHoldings(contracts: readonly Contract[], party: PartyId): readonly Holding[] {
  return contracts.flatMap((contract) => {
    const { owner, amount } = payloadOf(lockedCoin, contract).coin
    if (owner !== party) return []
    return [{ contract, amount: amount.initialAmount, round: amount.createdAt.number }]
  })
}

/** At one moment: coin that is being locked is neither missing nor there twice. */
async function holdings(ledger: WalletLedger, party: PartyId) {
  const { contracts } = await joinedContractsOf(ledger, ['Coin', 'LockedCoin'], party)
  return {
    unlocked: contracts.Coin.map(unlockedHolding),
    locked: lockedHoldings(contracts.LockedCoin, party),
  }
}

export async function spendableCoins(
  ledger: Ledger,
  party: PartyId,
): Promise<readonly SpendableCoin[]> {
  return (await contractsOf(ledger, 'Coin', party)).map((contract) => ({
    contractId: contract.contractId,
    amount: unlockedHolding(contract).amount,
  }))
}

export async function balanceOf(ledger: WalletLedger, party: PartyId) {
  const [round, { unlocked, locked }] = await Promise.all([
    newestRound(ledger),
    holdings(ledger, party),
  ])
  return {
    round: round.number,
    effective_unlocked_qty: formatAmount(sum(unlocked)),
    effective_locked_qty: formatAmount(sum(locked)),
    total_holding_fees: NO_FEE,
  }
}

function sum(holdings: readonly Holding[]): Amount {
  return holdings.reduce((total, holding) => total + holding.amount, 0n)
}

export async function listCoins(
  ledger: WalletLedger,
  input: { readonly party: PartyId; readonly synchronizerId: string },
) {
  const { unlocked, locked } = await holdings(ledger, input.party)
  const position = (holding: Holding) => ({
    contract: { contract: toWireContract(holding.contract), domain_id: input.synchronizerId },
    round: holding.round,
    accrued_holding_fee: NO_FEE,
    effective_amount: formatAmount(holding.amount),
  })
  return { coins: unlocked.map(position), locked_coins: locked.map(position) }
}

/**
 * Gives the user coin worth `usd`, at the newest round's price, rounded up (D-4, D-18).
 *
 * @throws {ScanError} INVALID_ARGUMENT unless the amount is positive and fits; DEVNET_ONLY;
 *   DUPLICATE_COMMAND if the command id was used before.
 */
export async function tap(
  deps: { readonly ledger: Ledger; readonly commander: Commander },
  input: { readonly user: WalletUser; readonly usd: string; readonly commandId: string | null },
  signal: AbortSignal,
): Promise<ContractId> {
  const { user, commandId } = input
  const usd = parseAmount(input.usd)
  if (usd === undefined || usd <= 0n) throw invalidMember('amount', TAP_RULE)
  const [rules, round] = await Promise.all([
    singleton(deps.ledger, 'CoinRules'),
    newestRound(deps.ledger),
  ])
  const amount = ceilDivide(usd, round.price)
  // A decimal of the ledger has 28 digits before the point; at a low price a legal amount exceeds that.
  if (parseAmount(formatAmount(amount)) === undefined) throw invalidMember('amount', TAP_RULE)
  const work = {
    command: tapCommand({ coinRules: rules.contractId, receiver: user.party, amount }),
    disclosed: [disclose(rules)],
    ...(commandId === null ? {} : { commandId }),
  }
  const update = await submitAs(deps, user, work, signal)
  return resultContractId(update, 'coinCid')
}

/** A member of a request that the ledger cannot take. */
export function invalidMember(name: string, rule: string): ScanError {
  const path = `body.${name}`
  return new ScanError('INVALID_ARGUMENT', `${path} ${rule}`, { details: { path, rule } })
}
