/** The user's own history: the activities of its party (D-24) in the shape that wallets read (D-20). */
import { fromUtf8 } from '@quorumscan/base'
import {
  type Activity,
  coinRules,
  type TransferActivity,
  templateIdOf,
  transferInstruction,
} from '@quorumscan/ledger'
import { formatAmount } from '@quorumscan/model'
import type { WalletLedger } from '../ledger/contracts.ts'
import type { WalletUser } from '../users/wallet-user.ts'

const ZERO = formatAmount(0n)

/**
 * The newest transactions, or those before one of them. What comes in meanwhile changes no later page.
 *
 * @throws {ScanError} OFFSET_PRUNED if the replica was rebuilt without a part of the range.
 */
export async function listTransactions(
  ledger: WalletLedger,
  input: {
    readonly user: WalletUser
    readonly limit: number
    /** An event id; null for the newest. */
    readonly before: string | null
  },
  signal: AbortSignal,
): Promise<TransactionItem[]> {
  const { offset } = await ledger.pin(null, signal)
  const { user, limit, before } = input
  const rows = await ledger.activities({
    party: user.party,
    order: 'desc',
    after: before,
    limit,
    offset,
  })
  // Written by the replica from `Activity`.
  return rows.map(({ body }) => itemOf(JSON.parse(fromUtf8(body)) as Activity))
}

export type TransactionItem = ReturnType<typeof itemOf>

function itemOf(activity: Activity) {
  const { event_id, date, transfer, mint, tap, abort_transfer_instruction: aborted } = activity
  if (transfer !== null) return { ...transferItem(transfer), event_id, date }
  const received = mint ?? tap
  const receivers =
    received === null ? [] : [{ party: received.coin_owner, amount: received.coin_amount }]
  return {
    transaction_type: 'balance_change' as const,
    transaction_subtype: subtypeOf(activity),
    event_id,
    date,
    receivers,
    transfer_instruction_cid: aborted?.transfer_instruction_cid ?? null,
  }
}

function transferItem(transfer: TransferActivity) {
  const { sender } = transfer
  const change = transfer.balance_changes.find(({ party }) => party === sender.party)
  return {
    transaction_type: 'transfer' as const,
    transaction_subtype: subtype(TRANSFER_STEPS[transfer.transfer_kind ?? 'none']),
    // As upstream: what the sender's balance, locked coin included, changed by.
    sender: {
      party: sender.party,
      amount: change?.change_to_initial_amount_as_of_round_zero ?? ZERO,
    },
    receivers: transfer.receivers.map(({ party, amount }) => ({ party, amount })),
    holding_fees: sender.holding_fees,
    app_rewards_used: sender.input_app_reward_amount,
    validator_rewards_used: sender.input_validator_reward_amount,
    sv_rewards_used: sender.input_sv_reward_amount,
    development_fund_coupons_used: ZERO,
    transfer_instruction_receiver: transfer.transferInstructionReceiver,
    transfer_instruction_amount: transfer.transferInstructionAmount,
    transfer_instruction_cid: transfer.transferInstructionCid,
    description: transfer.description,
  }
}

type Step = readonly [template: { readonly templateId: string }, choice: string]

const ofCoinRules = { templateId: templateIdOf(coinRules) }
const ofInstruction = { templateId: templateIdOf(transferInstruction) }

const TRANSFER_STEPS = {
  none: [ofCoinRules, 'CoinRules_Transfer'],
  create_transfer_instruction: [ofCoinRules, 'CoinRules_CreateTransferInstruction'],
  transfer_instruction_accept: [ofInstruction, 'TransferInstruction_Accept'],
} as const satisfies Record<string, Step>

function subtypeOf({ mint, abort_transfer_instruction: aborted }: Activity) {
  if (aborted === null)
    return subtype([ofCoinRules, mint === null ? 'CoinRules_DevNet_Tap' : 'CoinRules_Mint'])
  const choice = aborted.abort_kind === 'withdraw' ? 'Withdraw' : 'Reject'
  return subtype([ofInstruction, `TransferInstruction_${choice}`])
}

function subtype([{ templateId }, choice]: Step) {
  return { template_id: templateId, choice, coin_operation: null, interface_id: null }
}
