/** For tests: what a request names and discloses of the genesis. */
import { randomUUID } from 'node:crypto'
import { disclose, genesisDelta } from '@quorumscan/ledger'
import { hashGenesis } from '@quorumscan/verifier'
import type { TestValidator } from './test-validator.ts'

export async function genesisContracts(world: Pick<TestValidator, 'network'>) {
  const { genesis } = world.network
  const { created } = genesisDelta(genesis, await hashGenesis(genesis))
  /** Ids by entity. */
  const rules: Readonly<Record<string, string>> = Object.fromEntries(
    created.map(({ templateId, contractId }) => [templateId.split(':')[2], contractId]),
  )
  const disclosedContracts = created.map(disclose).map(({ contractId, blob }) => ({
    contractId,
    createdEventBlob: blob,
  }))
  const tapCommand = (receiver: string, amount: unknown = '1') => ({
    ExerciseCommand: {
      templateId: '#quorumscan-coin:Coin.Rules:CoinRules',
      contractId: rules['CoinRules'],
      choice: 'CoinRules_DevNet_Tap',
      choiceArgument: { receiver, amount },
    },
  })
  return {
    rules,
    disclosedContracts,
    tapCommand,
    /** A request by which the party taps coin for itself. */
    tapRequest: (party: string, more: object = {}) => ({
      commands: [tapCommand(party)],
      commandId: randomUUID(),
      actAs: [party],
      disclosedContracts,
      ...more,
    }),
  }
}
