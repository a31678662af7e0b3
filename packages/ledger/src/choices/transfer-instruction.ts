/** Offers of coin: made, accepted, rejected, withdrawn, expired. The coin is locked meanwhile. */
import type { ContractId } from '@quorumscan/model'
import { contractId, decimal, list, party, record, text, time } from '../lf.ts'
import { OPEN_OFFERS_MAX, TRANSFER_TEXT_UNITS_MAX } from '../limits.ts'
import { demand } from '../refusal.ts'
import type { Transaction } from '../template.ts'
import { defineChoice } from '../template.ts'
import { coinRules } from '../templates/coin-rules.ts'
import {
  type TransferInstructionPayload,
  transferInstruction,
} from '../templates/transfer-instruction.ts'
import { demandFewInputs, transfer } from './coin-rules.ts'
import { demandActor, singleton } from './common.ts'
import { unlock } from './locked-coin.ts'

/** Locks coin of the sender and offers it. The receiver need not be online. */
export const createTransferInstruction = defineChoice(
  coinRules,
  'CoinRules_CreateTransferInstruction',
  {
    consuming: false,
    argument: record('CoinRules_CreateTransferInstruction', {
      sender: party,
      receiver: party,
      amount: decimal,
      inputs: list(contractId),
      executeBefore: time,
      description: text,
      trackingId: text,
    }),
    result: record('CoinRules_CreateTransferInstructionResult', {
      transferInstructionCid: contractId,
      senderChange: list(contractId),
    }),
    checkArgument({ inputs, description, trackingId }) {
      demandFewInputs(inputs)
      demand(
        description.length <= TRANSFER_TEXT_UNITS_MAX &&
          trackingId.length <= TRANSFER_TEXT_UNITS_MAX,
        'INVALID_ARGUMENT',
        `description and trackingId have at most ${TRANSFER_TEXT_UNITS_MAX} characters`,
      )
    },
    controllers: (_rules, { sender }) => [sender],
    run(tx, self, { inputs, ...offer }) {
      const { sender, receiver, amount, executeBefore, description, trackingId } = offer
      const { dso } = self.payload
      demand(
        executeBefore > tx.now,
        'INVALID_ARGUMENT',
        'an offer ends in the future (executeBefore)',
      )
      demand(
        receiver !== dso && tx.isPartyAllocated(receiver),
        'INVALID_ARGUMENT',
        'the receiver is no party of this network',
      )
      demand(
        tx.countByKey(`offers:${sender}`) < OPEN_OFFERS_MAX,
        'LIMIT_EXCEEDED',
        `a party has at most ${OPEN_OFFERS_MAX} open transfer offers`,
      )
      const lock = { holders: [dso], expiresAt: executeBefore, optContext: null }
      const locked = tx.exercise(transfer, self.contractId, {
        sender,
        inputs,
        outputs: [{ receiver: sender, amount, lock }],
      })
      return {
        transferInstructionCid: tx.create(transferInstruction, {
          dso,
          lockedCoin: locked.createdCoins[0] as ContractId,
          transfer: {
            sender,
            receiver,
            amount,
            requestedAt: tx.now,
            executeBefore,
            description,
            trackingId,
          },
        }),
        senderChange: locked.senderChange,
      }
    },
  },
)

/** The receiver accepts the coin, before `executeBefore`. */
export const accept = defineChoice(transferInstruction, 'TransferInstruction_Accept', {
  consuming: true,
  worksWhenFull: true,
  argument: record('TransferInstruction_Accept', {}),
  result: record('TransferInstruction_AcceptResult', { receiverHoldings: list(contractId) }),
  controllers: ({ transfer: offer }) => [offer.receiver],
  run(tx, { payload }) {
    const { sender, receiver, amount, executeBefore } = payload.transfer
    demand(tx.now < executeBefore, 'CHOICE_REFUSED', 'the offer has ended')
    const { coinCid } = tx.exercise(unlock, payload.lockedCoin, {})
    const moved = tx.exercise(transfer, singleton(tx, coinRules).contractId, {
      sender,
      inputs: [coinCid],
      outputs: [{ receiver, amount, lock: null }],
    })
    return { receiverHoldings: moved.createdCoins }
  },
})

const returned = list(contractId)

export const reject = defineChoice(transferInstruction, 'TransferInstruction_Reject', {
  consuming: true,
  worksWhenFull: true,
  argument: record('TransferInstruction_Reject', {}),
  result: record('TransferInstruction_RejectResult', { senderHoldings: returned }),
  controllers: ({ transfer: offer }) => [offer.receiver],
  run: (tx, { payload }) => returnToSender(tx, payload),
})

export const withdraw = defineChoice(transferInstruction, 'TransferInstruction_Withdraw', {
  consuming: true,
  worksWhenFull: true,
  argument: record('TransferInstruction_Withdraw', {}),
  result: record('TransferInstruction_WithdrawResult', { senderHoldings: returned }),
  controllers: ({ transfer: offer }) => [offer.sender],
  run: (tx, { payload }) => returnToSender(tx, payload),
})

/** Sender or receiver ends an expired offer. */
export const expire = defineChoice(transferInstruction, 'TransferInstruction_Expire', {
  consuming: true,
  worksWhenFull: true,
  argument: record('TransferInstruction_Expire', { actor: party }),
  result: record('TransferInstruction_ExpireResult', { senderHoldings: returned }),
  controllers: (_payload, { actor }) => [actor],
  run(tx, { payload }, { actor }) {
    demandActor(actor, [payload.transfer.sender, payload.transfer.receiver])
    demand(payload.transfer.executeBefore <= tx.now, 'CHOICE_REFUSED', 'the offer has not ended')
    return returnToSender(tx, payload)
  },
})

function returnToSender(tx: Transaction, payload: TransferInstructionPayload) {
  return { senderHoldings: [tx.exercise(unlock, payload.lockedCoin, {}).coinCid] }
}
