/** Commands that make coin, which clients of the ledger interface submit. */
import { randomUUID } from 'node:crypto'
import { it as base } from '../network.ts'

export const it = base.extend('tapRequest', ({ world, alice }) => (more: object = {}) => ({
  commands: [
    {
      ExerciseCommand: {
        templateId: '#quorumscan-coin:Coin.Rules:CoinRules',
        contractId: world.coinRules.contract_id,
        choice: 'CoinRules_DevNet_Tap',
        choiceArgument: { receiver: alice.party, amount: '1.0' },
      },
    },
  ],
  commandId: randomUUID(),
  actAs: [alice.party],
  disclosedContracts: [{ createdEventBlob: world.coinRules.created_event_blob }],
  ...more,
}))
