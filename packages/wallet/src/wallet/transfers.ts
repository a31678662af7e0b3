/** Transfers between parties by transfer offers: creates, accepts, rejects and withdraws them (D-20). */
import type { BodyOf, ResponseOf, validatorRoutes } from '@quorumscan/api'
import { sha256, toHex, utf8 } from '@quorumscan/base'
import { isScanError } from '@quorumscan/errors'
import {
  acceptTransferCommand,
  createTransferInstructionCommand,
  disclose,
  isOf,
  type Ledger,
  OPEN_OFFERS_MAX,
  rejectTransferCommand,
  toWireContract,
  transferCommand,
  transferInstruction,
  type WireContract,
  withdrawTransferCommand,
} from '@quorumscan/ledger'
import { type Amount, type Micros, type PartyId, readAmount } from '@quorumscan/model'
import {
  type ContractCall,
  contractNotFound,
  inOrder,
  type KeyedLedger,
  resultContractId,
  resultContractIds,
  singleton,
  submitAs,
  type UserCall,
  type WalletUser,
} from '../ledger.ts'
import { invalidMember } from './coins.ts'
import { type Spending, type SpendingDeps, spend } from './spending.ts'

/** Transfer offers to a party in one list. Other parties can create any number of them. */
const OFFERS_LISTED_MAX = 1_000

type CreateTransfer = (typeof validatorRoutes)['createTransfer']
type TransferOutcome = ResponseOf<CreateTransfer>

/**
 * Creates a transfer offer to another party. A transfer to the sender itself takes effect at once, and merges coins.
 *
 * @throws {ScanError} INVALID_ARGUMENT unless the amount is positive, `expires_at` in the future and the
 *   receiver a party of this network; DUPLICATE_COMMAND for a tracking id that was used; as `spend`.
 */
export async function createTransfer(
  deps: SpendingDeps & { readonly now: () => Micros },
  input: UserCall & { readonly transfer: BodyOf<CreateTransfer> },
): Promise<TransferOutcome> {
  const { user, signal, transfer } = input
  const { receiver_party_id: receiver, tracking_id: trackingId, description } = transfer
  const amount = readAmount(transfer.amount)
  if (amount === undefined || amount <= 0n)
    throw invalidMember('amount', 'must be a positive decimal, small enough for the ledger')
  const executeBefore = transfer.expires_at
  if (executeBefore <= deps.now()) throw invalidMember('expires_at', 'must be in the future')
  const { party: sender } = user
  const isOwn = receiver === sender
  const offer = { sender, receiver, amount, executeBefore, description, trackingId }
  const prepare = () => prepareTransfer(deps.ledger, offer)
  const update = await deps.queue.run(user.party, signal, () =>
    spend(deps, { user, signal, prepare }),
  )
  return {
    output: isOwn
      ? { receiver_holding_cids: resultContractIds(update, 'createdCoins') }
      : { transfer_instruction_cid: resultContractId(update, 'transferInstructionCid') },
    sender_change_cids: resultContractIds(update, 'senderChange'),
    meta: {},
  }
}

/** A transfer as `spend` submits it: once for each tracking id. */
export async function prepareTransfer(
  ledger: KeyedLedger,
  offer: {
    readonly sender: PartyId
    readonly receiver: PartyId
    readonly amount: Amount
    readonly executeBefore: Micros
    readonly description: string
    readonly trackingId: string
  },
): Promise<Spending> {
  const { sender, receiver, amount, trackingId } = offer
  const rules = await singleton(ledger, 'CoinRules')
  const coinRules = rules.contractId
  return {
    needed: amount,
    disclosed: [disclose(rules)],
    command: (inputs) =>
      receiver === sender
        ? transferCommand({ coinRules, sender, inputs, outputs: [{ receiver, amount }] })
        : createTransferInstructionCommand({ coinRules, inputs, ...offer }),
    // Any text may be a tracking id, not so a command id.
    commandId: `transfer-${toHex(sha256(utf8(trackingId)))}`,
  }
}

/**
 * Open transfer offers of the user and to the user, in order of creation. It has at most 1 000 of those that other
 * parties created. The others follow once these are answered.
 */
export async function listTransfers(ledger: Ledger, user: WalletUser): Promise<WireContract[]> {
  const [made, visible] = await Promise.all([
    ledger.contractsByKey(`offers:${user.party}`, { limit: OPEN_OFFERS_MAX }),
    ledger.contractsByKey(`party:TransferInstruction:${user.party}`, { limit: OFFERS_LISTED_MAX }),
  ])
  const byId = new Map([...made, ...visible].map((contract) => [contract.contractId, contract]))
  return inOrder([...byId.values()]).map(toWireContract)
}

export type Answer = 'accept' | 'reject' | 'withdraw'

/**
 * Ends a transfer offer: the receiver accepts or rejects it, or the sender withdraws it.
 *
 * @throws {ScanError} PERMISSION_DENIED for the wrong one of the two, CHOICE_REFUSED for an offer that has
 *   ended, DUPLICATE_COMMAND if the user did it before, CONTRACT_NOT_FOUND.
 */
export async function answerTransfer(
  deps: SpendingDeps,
  input: ContractCall & { readonly answer: Answer },
): Promise<TransferOutcome> {
  const { contractId, answer } = input
  const [contract] = await deps.ledger.contracts([contractId])
  if (contract != null && !isOf(transferInstruction, contract)) throw contractNotFound(contractId)
  // The command is submitted for an ended offer, too: the ledger knows whether this user ended it.
  const command = commandOf[answer]({ instruction: contractId })
  const work = { command, commandId: `${answer}-transfer-${contractId}` }
  const update = await submitAs(deps, input, work).catch((error: unknown) => {
    throw isScanError(error, 'CONTRACT_NOT_FOUND') ? contractNotFound(contractId) : error
  })
  const output =
    answer === 'accept'
      ? { receiver_holding_cids: resultContractIds(update, 'receiverHoldings') }
      : {}
  return { output, sender_change_cids: [], meta: {} }
}

const commandOf = {
  accept: acceptTransferCommand,
  reject: rejectTransferCommand,
  withdraw: withdrawTransferCommand,
} as const
