/**
 * What a cluster stores is in the table "What stays" of docs/architecture.md: each key of its Redis servers, and each file
 * of its data directory.
 *
 * @module-tag rest
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { send, untilTrue } from '@quorumscan/testkit'
import { it } from '@quorumscan/testkit/fixtures'
import { formatInstant } from '@quorumscan/verifier'
import { Redis } from 'ioredis'
import type { RunningCluster } from 'quorumscan/testing'
import { expect } from 'vitest'
import { clock, createUser, untilFound } from '../support/client.ts'
import { startCluster } from '../support/clusters.ts'
import { ruleIds } from '../support/network.ts'
import { fillTo } from '../support/synchronizers.ts'
import { placesThatStay } from '../support/what-stays.ts'

const NAME = 'alice.unverified.ns'
/** A network takes a snapshot at this offset. */
const FIRST_SNAPSHOT = 1024
/** So that rounds advance, which ends versions of documents. */
const QUICK_ROUNDS = { coin: { tickMicros: 5_000_000 } }
/** An offer that ends leaves a notice. */
const OFFER_MICROS = 20_000_000
/** What a delayed command leaves goes when its outcome is known. */
const DELAY_MICROS = 55_000_000

type User = Awaited<ReturnType<typeof createUser>>

/** Kinds that this test does not create, each with what it takes. Unit tests of their packages make them. */
const NOT_CREATED: Readonly<Record<string, string>> = {
  '{users}:expired': 'a submission that does not reach the log in time',
  '{users}:evidence': 'a super-validator that signs two states',
  'faults.json': 'a fault',
  'chaos/*': 'a chaos run',
  'peers.env': 'an operator on a machine of its own',
  'run-*': 'an operator on a machine of its own',
}

it('each key and each file has a row, with an owner and a bound', async ({ fileResources }) => {
  const cluster = fileResources.opened(
    await startCluster({ nodes: 1, genesisOverrides: QUICK_ROUNDS }),
  )
  const { dataDir } = cluster
  const alice = await createUser(cluster, 'alice')
  await alice.accept(await alice.request(NAME), { autoRenew: true })
  await untilFound(cluster, NAME)
  await createUser(cluster, 'bob', null)
  const admin = { authorization: `Bearer ${await cluster.token()}` }
  const deleted = await send(`${cluster.urls.validator}/v2/users/bob`, {
    method: 'DELETE',
    headers: admin,
  })
  expect(deleted).toAnswer(200)
  await annotate(cluster, alice.party)
  const carol = await createUser(cluster, 'carol', null)
  await offer(cluster, alice, carol.party)
  await fillTo(cluster, FIRST_SNAPSHOT)

  const places = placesThatStay()
  const keysOf = async (name: string): Promise<readonly string[]> => {
    const config = readFileSync(join(dataDir, 'redis', name, 'redis.conf'), 'utf8')
    const user = /^user (?!default ).*$/m.exec(config)?.[0]
    // Of the log's Redis: the keys that its one user may write.
    if (user !== undefined) return [...user.matchAll(/ ~(\S+)/g)].map(([, key = '']) => key)
    const redis = new Redis({ path: /^unixsocket "(.*)"$/m.exec(config)?.[1] ?? '' })
    try {
      return await redis.keys('*')
    } finally {
      redis.disconnect()
    }
  }
  const filesOf = () =>
    readdirSync(dataDir, { recursive: true, withFileTypes: true })
      .filter((one) => !one.isDirectory())
      .map(({ parentPath, name }) => join(parentPath, name).slice(dataDir.length + 1))
  const stored = async () => {
    const keys = await Promise.all(readdirSync(join(dataDir, 'redis')).map(keysOf))
    return [...keys.flat(), ...filesOf()]
  }
  const matches = (place: string, name: string) => places.get(place)?.test(name) === true
  const known = [...places.keys()]

  const missing = async () => {
    const names = await stored()
    return known.filter((place) => !names.some((name) => matches(place, name)))
  }
  for (const late of ['snapshots/*', '{replica}:notices', '{replica}:ended'])
    await untilTrue(`the first of ${late}`, async () => !(await missing()).includes(late))
  await delay(cluster, alice)
  const names = await stored()
  const withoutRow = names.filter((name) => !known.some((place) => matches(place, name)))
  expect({ withoutRow, missing: (await missing()).sort() }).toEqual({
    withoutRow: [],
    missing: Object.keys(NOT_CREATED).sort(),
  })
})

/** What an administrator notes about a party. */
async function annotate(cluster: RunningCluster, party: string): Promise<void> {
  const answer = await send(`${cluster.urls.validator}/v2/parties/${encodeURIComponent(party)}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${await cluster.token()}` },
    body: {
      partyDetails: { party, localMetadata: { resourceVersion: '', annotations: { a: 'b' } } },
      updateMask: { paths: ['local_metadata.annotations'] },
    },
  })
  expect(answer).toAnswer(200)
}

/** A payment with a tracking id, which the receiver does not accept. */
async function offer(cluster: RunningCluster, { token }: User, receiver: string): Promise<void> {
  const answer = await send(`${cluster.urls.validator}/v0/wallet/token-standard/transfers`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: {
      receiver_party_id: receiver,
      amount: '1.0',
      description: '',
      expires_at: clock.nowMicros() + OFFER_MICROS,
      tracking_id: 'one',
    },
  })
  expect(answer).toAnswer(200)
}

/** A command of the ledger interface that waits for a time. */
async function delay(cluster: RunningCluster, { token, party }: User): Promise<void> {
  const { coinRules } = await ruleIds(cluster)
  const answer = await send(`${cluster.urls.validator}/v2/commands/async/submit`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: {
      commands: [
        {
          ExerciseCommand: {
            templateId: '#quorumscan-coin:Coin.Rules:CoinRules',
            contractId: coinRules.contract_id,
            choice: 'CoinRules_DevNet_Tap',
            choiceArgument: { receiver: party, amount: '1.0' },
          },
        },
      ],
      commandId: 'delayed',
      actAs: [party],
      disclosedContracts: [{ createdEventBlob: coinRules.created_event_blob }],
      minLedgerTimeAbs: formatInstant(clock.nowMicros() + DELAY_MICROS),
    },
  })
  expect(answer).toAnswer(200)
}
