/** The coins of a party, and taps on a development network. */
import type { ResponseOf, validatorRoutes } from '@quorumscan/api'
import { isScanError, ScanError } from '@quorumscan/errors'
import { coin, disclose, lockedCoin, tapCommand, toWireContract } from '@quorumscan/ledger'
import {
  type Amount,
  type Contract,
  ceilDivide,
  formatAmount,
  type Micros,
  type PartyId,
  parseAmount,
  readAmount,
} from '@quorumscan/model'
import { PAYMENT_EXPIRY_MICROS_MAX } from '@quorumscan/verifier'
import {
  joinedContractsOf,
  newestRound,
  type OperationDeps,
  resultContractId,
  singleton,
  submitAs,
  type UserCall,
  type WalletLedger,
} from '../ledger.ts'
import type { Payment, PaymentIds, Payments } from './payments.ts'

/** D-18: there are no holding fees. */
const NO_FEE = formatAmount(0n)

type TapOutcome = ResponseOf<(typeof validatorRoutes)['tap']>

const TAP_RULE = 'must be a positive decimal in USD, small enough for the ledger'

/** Reads both kinds at one record time, so that coin that is being locked is neither missing nor counted twice. */
async function holdingsOf(ledger: Pick<WalletLedger, 'contractsByKeys'>, party: PartyId) {
  const found = await joinedContractsOf(ledger, { coins: coin, locked: lockedCoin }, party)
  const holding = (contract: Contract, { amount }: (typeof found.coins)[number]['payload']) => ({
    contract,
    amount: amount.initialAmount,
    round: amount.createdAt.number,
  })
  return {
    unlocked: found.coins.map(({ contract, payload }) => holding(contract, payload)),
    // The party may be only a holder of the lock.
    locked: found.locked
      .filter(({ payload }) => payload.coin.owner === party)
      .map(({ contract, payload }) => holding(contract, payload.coin)),
  }
}

export async function balanceOf(
  ledger: Pick<WalletLedger, 'contractsByKey' | 'contractsByKeys'>,
  party: PartyId,
) {
  const [round, { unlocked, locked }] = await Promise.all([
    newestRound(ledger),
    holdingsOf(ledger, party),
  ])
  return {
    round: round.number,
    effective_unlocked_qty: formatAmount(sum(unlocked)),
    effective_locked_qty: formatAmount(sum(locked)),
    total_holding_fees: NO_FEE,
  }
}

function sum(holdings: readonly { readonly amount: Amount }[]): Amount {
  return holdings.reduce((total, { amount }) => total + amount, 0n)
}

export async function listCoins(
  ledger: WalletLedger,
  input: { readonly party: PartyId; readonly synchronizerId: string },
) {
  const { unlocked, locked } = await holdingsOf(ledger, input.party)
  const position = ({ contract, round, amount }: (typeof unlocked)[number]) => ({
    contract: { contract: toWireContract(contract), domain_id: input.synchronizerId },
    round,
    accrued_holding_fee: NO_FEE,
    effective_amount: formatAmount(amount),
  })
  return { coins: unlocked.map(position), locked_coins: locked.map(position) }
}

/**
 * Gives the user coin worth `usd`, at the newest round's price, rounded up (D-4, D-18). A repeated command id returns the
 * first result, as upstream.
 *
 * @throws {ScanError} INVALID_ARGUMENT unless the amount is positive and fits; DEVNET_ONLY; as `Payments.once` except
 *   DUPLICATE_COMMAND.
 */
export async function tap(
  deps: OperationDeps & { readonly payments: Payments; readonly now: () => Micros },
  input: UserCall & { readonly usd: string; readonly commandId: string | null },
): Promise<TapOutcome> {
  const { user, commandId } = input
  const usd = readAmount(input.usd)
  if (usd === undefined || usd <= 0n) throw invalidMember('amount', TAP_RULE)
  const submit = async (ids: Partial<PaymentIds>) => {
    const [rules, round] = await Promise.all([
      singleton(deps.ledger, 'CoinRules'),
      newestRound(deps.ledger),
    ])
    const amount = ceilDivide(usd, round.price)
    // A decimal of the ledger has 28 digits before the point; at a low price a legal amount exceeds that.
    if (parseAmount(formatAmount(amount)) === undefined) throw invalidMember('amount', TAP_RULE)
    return await submitAs(deps, input, {
      command: tapCommand({ coinRules: rules.contractId, receiver: user.party, amount }),
      disclosed: [disclose(rules)],
      ...ids,
    })
  }
  if (commandId === null) return { contract_id: resultContractId(await submit({}), 'coinCid') }
  const payment: Payment = {
    user,
    commandId,
    content: { tap: formatAmount(usd) },
    expiresAt: deps.now() + PAYMENT_EXPIRY_MICROS_MAX,
  }
  try {
    return (await deps.payments.once(payment, submit)).result as TapOutcome // `Payments` made it.
  } catch (error) {
    const first = isScanError(error, 'DUPLICATE_COMMAND') ? error.details?.['result'] : null
    if (first != null) return first as TapOutcome
    throw error
  }
}

/** A member of a request that the ledger cannot take. */
export function invalidMember(name: string, rule: string): ScanError {
  const path = `body.${name}`
  return new ScanError('INVALID_ARGUMENT', `${path} ${rule}`, { details: { path, rule } })
}
