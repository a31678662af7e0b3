/** Creation of coin (tap, mint) and transfers. Every transfer in the ledger goes through here. */
import { type ContractId, formatAmount } from '@quorumscan/model'
import { contractId, decimal, type LfValue, list, optional, party, record } from '../lf.ts'
import {
  LOCK_HOLDERS_MAX,
  TRANSFER_INPUTS_MAX,
  TRANSFER_OUTPUTS_MAX,
  TRANSFER_TEXT_UNITS_MAX,
} from '../limits.ts'
import { demand, refuse } from '../refusal.ts'
import { defineChoice } from '../template.ts'
import { coin } from '../templates/coin.ts'
import { coinRules } from '../templates/coin-rules.ts'
import { lockedCoin } from '../templates/locked-coin.ts'
import { round, timeLock } from '../templates/shared.ts'
import { newestRound, newHolding, unique } from './common.ts'

/** Creates coin for free, if the genesis has `devnet` (D-18). */
export const tap = defineChoice(coinRules, 'CoinRules_DevNet_Tap', {
  consuming: false,
  argument: record('CoinRules_DevNet_Tap', { receiver: party, amount: decimal }),
  result: record('CoinRules_DevNet_TapResult', { coinCid: contractId, round }),
  checkArgument({ amount }, { tapMax }) {
    demand(amount > 0n, 'INVALID_ARGUMENT', 'an amount to tap is positive')
    demand(amount <= tapMax, 'LIMIT_EXCEEDED', `a tap gives at most ${formatAmount(tapMax)} coin`)
  },
  controllers: (_rules, { receiver }) => [receiver],
  run(tx, { payload: rules }, { receiver, amount }) {
    demand(rules.isDevNet, 'DEVNET_ONLY', 'tap works on a development network only')
    const current = newestRound(tx).payload.round
    return { coinCid: tx.create(coin, newHolding(tx, receiver, amount)), round: current }
  },
})

/** The reward of a closed round for one super-validator (D-23). */
export const mint = defineChoice(coinRules, 'CoinRules_Mint', {
  consuming: false,
  argument: record('CoinRules_Mint', { receiver: party, amount: decimal, round }),
  result: record('CoinRules_MintResult', { coinCid: contractId }),
  controllers: (rules, { receiver }) => [rules.dso, receiver],
  run: (tx, _self, { receiver, amount }) => ({
    coinCid: tx.create(coin, newHolding(tx, receiver, amount)),
  }),
})

export const transferOutput = record('TransferOutput', {
  receiver: party,
  amount: decimal,
  lock: optional(timeLock),
})

const transferResult = record('CoinRules_TransferResult', {
  /** One for each output, in order. */
  createdCoins: list(contractId),
  /** Empty, or the change: the coin of the inputs beyond the outputs. */
  senderChange: list(contractId),
  inputAmount: decimal,
  changeAmount: decimal,
  round,
})
export type TransferResult = LfValue<typeof transferResult>

/** @throws {Refusal} If one transfer may not take so many coins. */
export function demandFewInputs(inputs: readonly ContractId[]): void {
  demand(
    inputs.length <= TRANSFER_INPUTS_MAX,
    'LIMIT_EXCEEDED',
    `a transfer has at most ${TRANSFER_INPUTS_MAX} inputs`,
  )
}

/** Moves coin of one sender to receivers who all agree, and returns the change. Without outputs it merges. */
export const transfer = defineChoice(coinRules, 'CoinRules_Transfer', {
  consuming: false,
  argument: record('CoinRules_Transfer', {
    sender: party,
    inputs: list(contractId),
    outputs: list(transferOutput),
  }),
  result: transferResult,
  checkArgument({ inputs, outputs }) {
    demandFewInputs(inputs)
    demand(
      outputs.length <= TRANSFER_OUTPUTS_MAX,
      'LIMIT_EXCEEDED',
      `a transfer has at most ${TRANSFER_OUTPUTS_MAX} outputs`,
    )
    demand(inputs.length + outputs.length > 0, 'INVALID_ARGUMENT', 'a transfer moves something')
    for (const { amount, lock } of outputs) {
      demand(amount > 0n, 'INVALID_ARGUMENT', 'an amount to transfer is positive')
      if (lock === null) continue
      demand(lock.holders.length > 0, 'INVALID_ARGUMENT', 'a lock has a holder')
      demand(
        lock.holders.length <= LOCK_HOLDERS_MAX,
        'LIMIT_EXCEEDED',
        `a lock has at most ${LOCK_HOLDERS_MAX} holders`,
      )
      demand(
        (lock.optContext ?? '').length <= TRANSFER_TEXT_UNITS_MAX,
        'LIMIT_EXCEEDED',
        `the context of a lock has at most ${TRANSFER_TEXT_UNITS_MAX} characters`,
      )
    }
  },
  controllers: (_rules, { sender, outputs }) =>
    unique([
      sender,
      ...outputs.flatMap((output) => [output.receiver, ...(output.lock?.holders ?? [])]),
    ]),
  run(tx, _self, { sender, inputs, outputs }) {
    let needed = 0n
    for (const { amount, lock } of outputs) {
      demand(
        lock === null || lock.expiresAt > tx.now,
        'INVALID_ARGUMENT',
        'a lock ends in the future',
      )
      needed += amount
    }
    let inputAmount = 0n
    for (const input of inputs) {
      const { payload } = tx.fetch(coin, input)
      if (payload.owner !== sender)
        refuse('PERMISSION_DENIED', `the coin ${input} does not belong to the sender`)
      inputAmount += payload.amount.initialAmount
      tx.archive(coin, input)
    }
    const changeAmount = inputAmount - needed
    demand(
      changeAmount >= 0n,
      'INSUFFICIENT_FUNDS',
      `the inputs hold ${formatAmount(inputAmount)} coin, ${formatAmount(needed)} are needed`,
    )
    const createdCoins = outputs.map((output) => {
      const holding = newHolding(tx, output.receiver, output.amount)
      return output.lock === null
        ? tx.create(coin, holding)
        : tx.create(lockedCoin, { coin: holding, lock: output.lock })
    })
    const senderChange =
      changeAmount > 0n ? [tx.create(coin, newHolding(tx, sender, changeAmount))] : []
    return {
      createdCoins,
      senderChange,
      inputAmount,
      changeAmount,
      round: newestRound(tx).payload.round,
    }
  },
})
