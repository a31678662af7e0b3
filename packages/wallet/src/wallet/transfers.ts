/** Transfers between parties: offered, taken, given back (D-20). */
import type { ResponseOf, validatorRoutes } from '@quorumscan/api'
import { sha256, toHex, utf8 } from '@quorumscan/base'
import { isScanError, ScanError } from '@quorumscan/errors'
import {
  acceptTransferCommand,
  createTransferInstructionCommand,
  disclose,
  type Ledger,
  OPEN_OFFERS_MAX,
  rejectTransferCommand,
  toWireContract,
  transferCommand,
  type WireContract,
  withdrawTransferCommand,
} from '@quorumscan/ledger'
import { type ContractId, type Micros, type PartyId, parseAmount } from '@quorumscan/model'
import { contractNotFound, isOfKind } from '../ledger/contracts.ts'
import { resultContractId, resultContractIds } from '../ledger/results.ts'
import { singleton } from '../ledger/rules.ts'
import type { WalletUser } from '../users/wallet-user.ts'
import { invalidAmount } from './coins.ts'
import { type SpendingDeps, spend } from './spending.ts'

/** Offers to a party are made by others, any number of them; a list shows so many. */
const OFFERS_LISTED_MAX = 1_000

type TransferOutcome = ResponseOf<(typeof validatorRoutes)['createTransfer']>

export type TransferRequest = {
  readonly receiver: PartyId
  /** Coin. */
  readonly amount: string
  readonly description: string
  /** The offer can be taken before this. */
  readonly expiresAt: Micros
  /** A second transfer of the user with the same one is refused. */
  readonly trackingId: string
}

/**
 * Offers coin to another party. To oneself it is moved at once, which makes one coin of many.
 *
 * @throws {ScanError} INVALID_ARGUMENT unless the amount is positive, `expiresAt` in the future and the
 *   receiver a party of this network; DUPLICATE_COMMAND for a tracking id that was used; as `spend`.
 */
export async function createTransfer(
  deps: SpendingDeps & { readonly now: () => Micros },
  input: { readonly user: WalletUser; readonly request: TransferRequest },
  signal: AbortSignal,
): Promise<TransferOutcome> {
  const { user, request } = input
  const amount = parseAmount(request.amount)
  if (amount === undefined || amount <= 0n)
    throw invalidAmount('must be a positive decimal, small enough for the ledger')
  if (request.expiresAt <= deps.now()) throw invalidExpiry()
  const { party } = user
  const isOwn = request.receiver === party
  const prepare = async () => {
    const rules = await singleton(deps.ledger, 'CoinRules')
    const coinRules = rules.contractId
    return {
      needed: amount,
      disclosed: [disclose(rules)],
      command: isOwn
        ? (inputs: readonly ContractId[]) =>
            transferCommand({
              coinRules,
              sender: party,
              inputs,
              outputs: [{ receiver: party, amount }],
            })
        : (inputs: readonly ContractId[]) =>
            createTransferInstructionCommand({
              coinRules,
              sender: party,
              receiver: request.receiver,
              amount,
              inputs,
              executeBefore: request.expiresAt,
              description: request.description,
              trackingId: request.trackingId,
            }),
      // Any text may be a tracking id, not so a command id.
      commandId: `transfer-${toHex(sha256(utf8(request.trackingId)))}`,
    }
  }
  const update = await deps.queue.run(user.party, signal, () =>
    spend(deps, { user, prepare }, signal),
  )
  return {
    output: isOwn
      ? { receiver_holding_cids: resultContractIds(update, 'createdCoins') }
      : { transfer_instruction_cid: resultContractId(update, 'transferInstructionCid') },
    sender_change_cids: resultContractIds(update, 'senderChange'),
    meta: {},
  }
}

function invalidExpiry(): ScanError {
  const [path, rule] = ['body.expires_at', 'must be in the future']
  return new ScanError('INVALID_ARGUMENT', `${path} ${rule}`, { details: { path, rule } })
}

/**
 * Open offers of the user and to the user, in order of creation. Of those that others made it shows at
 * most 1 000: answering them makes room for the rest.
 */
export async function listTransfers(ledger: Ledger, user: WalletUser): Promise<WireContract[]> {
  const [made, visible] = await Promise.all([
    ledger.contractsByKey(`offers:${user.party}`, { limit: OPEN_OFFERS_MAX }),
    ledger.contractsByKey(`party:TransferInstruction:${user.party}`, { limit: OFFERS_LISTED_MAX }),
  ])
  const byId = new Map([...made, ...visible].map((contract) => [contract.contractId, contract]))
  return [...byId.values()]
    .toSorted((a, b) => a.offset - b.offset || a.nodeId - b.nodeId)
    .map(toWireContract)
}

type Answer = 'accept' | 'reject' | 'withdraw'

/**
 * Ends an offer: the receiver accepts or rejects it, the sender withdraws it.
 *
 * @throws {ScanError} PERMISSION_DENIED for the wrong one of the two, CHOICE_REFUSED for an offer that has
 *   ended, DUPLICATE_COMMAND if the user did it before, CONTRACT_NOT_FOUND.
 */
export async function answerTransfer(
  deps: SpendingDeps,
  input: {
    readonly user: WalletUser
    readonly contractId: ContractId
    readonly answer: Answer
  },
  signal: AbortSignal,
): Promise<TransferOutcome> {
  const { user, contractId, answer } = input
  const [contract] = await deps.ledger.contracts([contractId])
  if (contract != null && !isOfKind(contract, 'TransferInstruction'))
    throw contractNotFound(contractId)
  // One that is gone is commanded as well: the ledger knows whether it was the user who ended it.
  const update = await deps.commander
    .submit(
      {
        userId: user.userId,
        actAs: [user.party],
        commands: [commandOf[answer]({ instruction: contractId })],
        commandId: `${answer}-transfer-${contractId}`,
      },
      signal,
    )
    .catch((error: unknown) => {
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
