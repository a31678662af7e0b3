/**
 * The network of all conformance tests, and their only `it`: one that extends it would start another network. Each test
 * creates its own data.
 */
import { randomUUID } from 'node:crypto'
import { send, untilTrue } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { createUser, untilFound } from '../support/client.ts'
import { startCluster } from '../support/clusters.ts'
import { createWorld } from '../support/routes/world.ts'

/** The name of the user `alice`. No other test registers a name with its first letters. */
export const ALICE = 'alice.unverified.ns'

const HOUR_MICROS = 3_600_000_000

export const it = base
  .extend('cluster', { scope: 'file' }, async ({ fileResources }) => {
    // Names can be renewed immediately.
    const names = { entryLifetimeMicros: HOUR_MICROS, renewalDurationMicros: HOUR_MICROS }
    return fileResources.opened(await startCluster({ nodes: 4, genesisOverrides: { names } }))
  })
  .extend('world', { scope: 'file' }, ({ cluster }) => createWorld(cluster))
  .extend('alice', { scope: 'file' }, async ({ cluster }) => {
    const alice = await createUser(cluster, 'alice')
    await alice.pay(ALICE)
    await untilFound(cluster, ALICE)
    // Clients that ask one node find it too: the proxy does not wait for the last node.
    for (const url of Object.values(cluster.urls.nodes))
      await untilTrue(
        `${ALICE} to be found by ${url}`,
        async () => (await send(`${url}/v0/ans-entries/by-name/${ALICE}`)).status === 200,
      )
    return alice
  })
  /** A command of alice that makes coin. */
  .extend('tapRequest', ({ world, alice }) => (more: object = {}) => ({
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
