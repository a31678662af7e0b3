/**
 * The effects of a transaction on coin, as rows of the activity history (D-24, D-25): a pure projection of
 * its events. Rows exist for tap, mint, every transfer, and offers that were rejected or withdrawn;
 * burning, unlocking and expiry make none (`notices.ts` has rows for their owners).
 */
import { assert } from '@quorumscan/base'
import {
  type Amount,
  type ContractId,
  type DamlValue,
  type EntryResult,
  type ExercisedEvent,
  formatAmount,
  type LedgerEvent,
  type Micros,
  type Offset,
  type PartyId,
  parseAmount,
} from '@quorumscan/model'
import { formatInstant } from '@quorumscan/verifier'
import { enclosing, formatEventId, type HistoryStep, isHistoryStep } from './history-rows.ts'

const ZERO = formatAmount(0n)

/** Amounts are decimals with ten digits; there are no fees (D-18), so the wire's fee members are zeros. */
export type TransferActivity = {
  readonly sender: {
    readonly party: string
    readonly sender_change_fee: string
    readonly sender_change_amount: string
    readonly sender_fee: string
    readonly holding_fees: string
    readonly input_coin_amount: string
    readonly input_app_reward_amount: string
    readonly input_validator_reward_amount: string
    readonly input_sv_reward_amount: string
    readonly input_validator_faucet_amount: string
  }
  /** One row per party, in order of first appearance. */
  readonly receivers: readonly {
    readonly party: string
    readonly amount: string
    readonly receiver_fee: string
  }[]
  /** One row for each party that the transaction leaves with more or less coin, locked included. */
  readonly balance_changes: readonly {
    readonly party: string
    readonly change_to_initial_amount_as_of_round_zero: string
    readonly change_to_holding_fees_rate: string
  }[]
  readonly description: string | null
  readonly transferInstructionReceiver: string | null
  readonly transferInstructionAmount: string | null
  readonly transferInstructionCid: string | null
  readonly transfer_kind: 'create_transfer_instruction' | 'transfer_instruction_accept' | null
}

/** One row of `POST /v0/activities`. Exactly one of the four members is not null. */
export type Activity = {
  readonly activity_type: 'transfer' | 'mint' | 'devnet_tap' | 'abort_transfer_instruction'
  /** `<offset, 16 digits>:<index, 4 digits>`: equal on every node, increasing as text (D-25). */
  readonly event_id: string
  readonly date: string
  readonly domain_id: string
  readonly offset: string
  readonly round: number | null
  readonly transfer: TransferActivity | null
  readonly mint: { readonly coin_owner: string; readonly coin_amount: string } | null
  readonly tap: { readonly coin_owner: string; readonly coin_amount: string } | null
  readonly abort_transfer_instruction: {
    readonly transfer_instruction_cid: string
    readonly abort_kind: 'withdraw' | 'reject'
  } | null
}

/** A row with the parties whose history it belongs to, each once, and the step that made it. */
export type ActivityRow = {
  readonly activity: Activity
  readonly parties: readonly PartyId[]
  readonly step: HistoryStep
}

type Kind = Pick<Activity, 'activity_type' | 'round'> &
  Partial<Pick<Activity, 'transfer' | 'mint' | 'tap' | 'abort_transfer_instruction'>>

export type AppliedResult = {
  readonly offset: Offset
  readonly recordTime: Micros
  readonly synchronizerId: string
  readonly result: EntryResult
}

/**
 * The rows of one applied entry, in order of its events. The parties of a row are the owner, sender and receivers of the
 * coin, the receiver of a transfer offer, and the stakeholders of a transfer offer that ended.
 */
export function activityRowsOf(entry: AppliedResult): readonly ActivityRow[] {
  if (entry.result.kind !== 'accepted') return []
  const { events } = entry.result.update
  const rows: ActivityRow[] = []
  for (const event of events) {
    const kind = kindOf(event, events)
    if (kind === null) continue
    const activity = {
      activity_type: kind.activity_type,
      event_id: formatEventId(entry.offset, rows.length),
      date: formatInstant(entry.recordTime),
      domain_id: entry.synchronizerId,
      offset: String(entry.offset),
      round: kind.round,
      transfer: kind.transfer ?? null,
      mint: kind.mint ?? null,
      tap: kind.tap ?? null,
      abort_transfer_instruction: kind.abort_transfer_instruction ?? null,
    }
    const step = stepOf(event as ExercisedEvent, events)
    rows.push({ activity, parties: partiesOf(activity, event), step })
  }
  return rows
}

function partiesOf(activity: Activity, event: LedgerEvent): PartyId[] {
  const { transfer, mint, tap } = activity
  const named = [
    transfer?.sender.party,
    ...(transfer?.receivers ?? []).map(({ party }) => party),
    transfer?.transferInstructionReceiver,
    (mint ?? tap)?.coin_owner,
  ].filter((party) => party != null)
  // The row of an ended offer names no party.
  return [...new Set(named.length > 0 ? named : [...event.signatories, ...event.observers])]
}

function kindOf(event: LedgerEvent, events: readonly LedgerEvent[]): Kind | null {
  if (event.kind !== 'exercised') return null
  switch (event.choice) {
    case 'CoinRules_DevNet_Tap': {
      const { receiver, amount } = event.argument as { receiver: string; amount: string }
      const tap = { coin_owner: receiver, coin_amount: amount }
      return { activity_type: 'devnet_tap', round: roundOf(event.result), tap }
    }
    case 'CoinRules_Mint': {
      const { receiver, amount } = event.argument as { receiver: string; amount: string }
      const mint = { coin_owner: receiver, coin_amount: amount }
      return { activity_type: 'mint', round: roundOf(event.argument), mint }
    }
    case 'CoinRules_Transfer': {
      const transfer = transferOf(event, events)
      return { activity_type: 'transfer', round: roundOf(event.result), transfer }
    }
    case 'TransferInstruction_Withdraw':
    case 'TransferInstruction_Reject': {
      const abort_transfer_instruction = {
        transfer_instruction_cid: event.contractId,
        abort_kind: event.choice === 'TransferInstruction_Withdraw' ? 'withdraw' : 'reject',
      } as const
      return {
        activity_type: 'abort_transfer_instruction',
        round: null,
        abort_transfer_instruction,
      }
    }
    default:
      return null
  }
}

function roundOf(value: DamlValue): number {
  return Number((value as { readonly round: { readonly number: string } }).round.number)
}

/** The step that a wallet shows for a row: the payment, collection or offer that a transfer is part of, else the choice. */
function stepOf(event: ExercisedEvent, events: readonly LedgerEvent[]): HistoryStep {
  return (
    [...enclosing(event, events), event].map(({ choice }) => choice).find(isHistoryStep) ??
    'CoinRules_Transfer'
  )
}

function transferOf(event: ExercisedEvent, events: readonly LedgerEvent[]): TransferActivity {
  const { sender, outputs } = event.argument as {
    sender: string
    outputs: readonly { receiver: string; amount: string }[]
  }
  const { inputAmount, changeAmount, createdCoins } = event.result as {
    inputAmount: string
    changeAmount: string
    createdCoins: readonly ContractId[]
  }
  const received = new Map<string, Amount>()
  const changes = new Map([[sender, exactly(changeAmount) - exactly(inputAmount)]])
  const add = (to: Map<string, Amount>, party: string, amount: Amount) =>
    to.set(party, (to.get(party) ?? 0n) + amount)
  const burned = burnedIn(events)
  for (const [index, { receiver, amount }] of outputs.entries()) {
    add(received, receiver, exactly(amount))
    // As upstream: coin that is burned at once does not change the balance of its receiver.
    const coin = createdCoins[index]
    if (coin === undefined || !burned.has(coin)) add(changes, receiver, exactly(amount))
  }
  return {
    sender: {
      party: sender,
      sender_change_fee: ZERO,
      sender_change_amount: changeAmount,
      sender_fee: ZERO,
      holding_fees: ZERO,
      input_coin_amount: inputAmount,
      input_app_reward_amount: ZERO,
      input_validator_reward_amount: ZERO,
      input_sv_reward_amount: ZERO,
      input_validator_faucet_amount: ZERO,
    },
    receivers: [...received].map(([party, amount]) => ({
      party,
      amount: formatAmount(amount),
      receiver_fee: ZERO,
    })),
    balance_changes: [...changes]
      .filter(([, change]) => change !== 0n)
      .map(([party, change]) => ({
        party,
        change_to_initial_amount_as_of_round_zero: formatAmount(change),
        change_to_holding_fees_rate: ZERO,
      })),
    ...instructionOf(enclosing(event, events).at(-1) ?? null),
  }
}

/** Coin that is archived in the transaction without being an input of a transfer: it is burned. */
function burnedIn(events: readonly LedgerEvent[]): ReadonlySet<ContractId> {
  const burned = events.filter(
    (event) =>
      event.kind === 'exercised' &&
      event.choice === 'Archive' &&
      enclosing(event, events).at(-1)?.choice !== 'CoinRules_Transfer',
  )
  return new Set(burned.map(({ contractId }) => contractId))
}

/** The members of a transfer that are set only if it is a step of a transfer offer. */
function instructionOf(
  parent: ExercisedEvent | null,
): Omit<TransferActivity, 'sender' | 'receivers' | 'balance_changes'> {
  const none = {
    description: null,
    transferInstructionReceiver: null,
    transferInstructionAmount: null,
    transferInstructionCid: null,
    transfer_kind: null,
  }
  if (parent?.choice === 'TransferInstruction_Accept')
    return {
      ...none,
      transferInstructionCid: parent.contractId,
      transfer_kind: 'transfer_instruction_accept',
    }
  if (parent?.choice !== 'CoinRules_CreateTransferInstruction') return none
  const offer = parent.argument as { receiver: string; amount: string; description: string }
  const { transferInstructionCid } = parent.result as { transferInstructionCid: string }
  return {
    description: offer.description === '' ? null : offer.description,
    transferInstructionReceiver: offer.receiver,
    transferInstructionAmount: offer.amount,
    transferInstructionCid,
    transfer_kind: 'create_transfer_instruction',
  }
}

function exactly(text: string): Amount {
  const amount = parseAmount(text)
  assert(amount !== undefined, 'decimals in events are canonical')
  return amount
}
