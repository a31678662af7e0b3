/** The coins of a party, and taps on a development network. */
import type { ResponseOf, validatorRoutes } from '@quorumscan/api'
import { mapInTurns } from '@quorumscan/base'
import { isScanError, ScanError } from '@quorumscan/errors'
import {
  amountKey,
  type CoinPayload,
  coin,
  disclose,
  isOf,
  type Ledger,
  lockedCoin,
  payloadOf,
  tapCommand,
  toWireContract,
} from '@quorumscan/ledger'
import {
  type Contract,
  ceilDivide,
  formatAmount,
  type Micros,
  type PartyId,
  parseAmount,
  readAmount,
} from '@quorumscan/model'
import type { Replica } from '@quorumscan/replica'
import { PAYMENT_EXPIRY_MICROS_MAX } from '@quorumscan/verifier'
import {
  newestRound,
  type OperationDeps,
  resultContractId,
  singleton,
  submitAs,
  type UserCall,
} from '../ledger.ts'
import { type ListQuery, readListPage } from './list-page.ts'
import type { Payment, PaymentIds, Payments } from './payments.ts'

/** D-18: there are no holding fees. */
const NO_FEE = formatAmount(0n)

type TapOutcome = ResponseOf<(typeof validatorRoutes)['tap']>

const TAP_RULE = 'must be a positive decimal in USD, small enough for the ledger'

/** From the totals that the replica keeps: the cost does not depend on the number of coins. */
export async function balanceOf(ledger: Pick<Ledger, 'contractsByKey' | 'totals'>, party: PartyId) {
  const keys = [amountKey(coin.entity, party), amountKey(lockedCoin.entity, party)]
  const [round, [unlocked, locked]] = await Promise.all([newestRound(ledger), ledger.totals(keys)])
  return {
    round: round.number,
    effective_unlocked_qty: formatAmount(unlocked?.sum ?? 0n),
    effective_locked_qty: formatAmount(locked?.sum ?? 0n),
    total_holding_fees: NO_FEE,
  }
}

/** A page of the coins of a party, unlocked and locked in one order. @throws {ScanError} INVALID_PAGE_TOKEN. */
export async function listCoins(
  ledger: Pick<Replica, 'listContracts'>,
  input: { readonly party: PartyId; readonly synchronizerId: string; readonly query: ListQuery },
) {
  const { party, synchronizerId, query } = input
  const page = await readListPage(ledger, { templates: [coin, lockedCoin], party, query })
  const position = (contract: Contract, { amount }: CoinPayload) => ({
    contract: { contract: toWireContract(contract), domain_id: synchronizerId },
    round: amount.createdAt.number,
    accrued_holding_fee: NO_FEE,
    effective_amount: formatAmount(amount.initialAmount),
  })
  const unlocked = page.contracts.filter((contract) => isOf(coin, contract))
  const locked = page.contracts.filter((contract) => isOf(lockedCoin, contract))
  const lockedCoins = await mapInTurns(locked, (contract) => {
    const held = payloadOf(lockedCoin, contract).coin
    // The party may be only a holder of the lock.
    return held.owner === party ? [position(contract, held)] : []
  })
  return {
    coins: await mapInTurns(unlocked, (contract) => position(contract, payloadOf(coin, contract))),
    locked_coins: lockedCoins.flat(),
    next_page_token: page.nextPageToken,
  }
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
