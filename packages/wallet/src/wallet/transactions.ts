/**
 * The history of the user, in the form that wallets read (D-20): the activities of its party (D-24), returned coin, and
 * expired subscriptions.
 */
import { assert, fromUtf8 } from '@quorumscan/base'
import {
  type Activity,
  choicesOf,
  type HistoryStep,
  isNoticeId,
  type Notice,
  type TransferActivity,
  templateIdOf,
  templates,
} from '@quorumscan/ledger'
import { formatAmount } from '@quorumscan/model'
import type { UserCall, WalletLedger } from '../ledger.ts'

const ZERO = formatAmount(0n)

/**
 * The newest transactions, or those before one of them. Newer transactions change no later page.
 *
 * @throws {ScanError} OFFSET_PRUNED if the replica was rebuilt without a part of the range.
 */
export async function listTransactions(
  ledger: WalletLedger,
  input: UserCall & {
    readonly limit: number
    /** An event id; null for the newest. */
    readonly before: string | null
  },
): Promise<TransactionItem[]> {
  const { user, signal, limit, before } = input
  const { offset } = await ledger.pin(null, signal)
  const rows = await ledger.lookups.activities({
    party: user.party,
    order: 'desc',
    after: before,
    limit,
    offset,
  })
  return rows.map(({ eventId, step, body }) => {
    // Written by the replica from `Notice` and `Activity`.
    const row: unknown = JSON.parse(fromUtf8(body))
    return isNoticeId(eventId) ? noticeItem(row as Notice, step) : itemOf(row as Activity, step)
  })
}

export type TransactionItem = ReturnType<typeof itemOf> | ReturnType<typeof noticeItem>

function itemOf(activity: Activity, step: HistoryStep) {
  const { event_id, date, transfer, mint, tap, abort_transfer_instruction: aborted } = activity
  const transaction_subtype = subtypeOf(step)
  if (transfer !== null) return { ...transferItem(transfer), transaction_subtype, event_id, date }
  return {
    transaction_type: 'balance_change' as const,
    transaction_subtype,
    event_id,
    date,
    receivers: receiversOf(mint ?? tap),
    transfer_instruction_cid: aborted?.transfer_instruction_cid ?? null,
  }
}

function noticeItem(notice: Notice, step: HistoryStep) {
  const { event_id, date, returned, transfer_instruction_cid, details } = notice
  const base = { transaction_subtype: subtypeOf(step), event_id, date }
  if (details !== null) return { transaction_type: 'notification' as const, ...base, details }
  return {
    transaction_type: 'balance_change' as const,
    ...base,
    receivers: receiversOf(returned),
    transfer_instruction_cid,
  }
}

function receiversOf(holding: { coin_owner: string; coin_amount: string } | null) {
  return holding === null ? [] : [{ party: holding.coin_owner, amount: holding.coin_amount }]
}

function transferItem(transfer: TransferActivity) {
  const { sender } = transfer
  const { party } = sender
  const change = transfer.balance_changes.find((one) => one.party === party)
  return {
    transaction_type: 'transfer' as const,
    // As upstream: the change of the sender's balance, locked coin included.
    sender: { party, amount: change?.change_to_initial_amount_as_of_round_zero ?? ZERO },
    receivers: transfer.receivers.map((one) => ({ party: one.party, amount: one.amount })),
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

const templateIdByStep = new Map(
  templates.flatMap(choicesOf).map(({ name, template }) => [name, templateIdOf(template)]),
)

/** The template is the first version that has the choice. No interface names steps, nor do coin operations exist. */
function subtypeOf(step: HistoryStep) {
  const template_id = templateIdByStep.get(step)
  assert(template_id !== undefined, 'a step of the history is a choice')
  return { template_id, choice: step, coin_operation: null, interface_id: null }
}
