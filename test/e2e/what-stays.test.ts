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
import { Redis } from 'ioredis'
import { expect } from 'vitest'
import { createUser, untilFound } from '../support/client.ts'
import { startCluster } from '../support/clusters.ts'
import { fillTo } from '../support/synchronizers.ts'
import { placesThatStay } from '../support/what-stays.ts'

const NAME = 'alice.unverified.ns'
/** A network takes a snapshot at this offset. */
const FIRST_SNAPSHOT = 1024

/** Rows whose kind this test creates. Others need a fault, an administrator, or weeks. */
const CREATED = [
  'log:recent',
  '{replica}:names',
  '{replica}:lex',
  '{replica}:parties',
  '{replica}:documents',
  '{replica}:at',
  '{replica}:contracts:*',
  '{replica}:index:*',
  '{replica}:due:*',
  '{replica}:hosted',
  '{replica}:seen',
  '{replica}:changes',
  '{replica}:changes-until',
  '{replica}:activities',
  '{replica}:activity-parties',
  '{replica}:activity-times',
  '{replica}:updates',
  '{replica}:completions',
  '{users}:records',
  '{users}:ids',
  '{users}:deleted',
  '{users}:party-owners',
  '{users}:auto-renewals',
  '{users}:identity',
  'jobs:*',
  'snapshots/*',
  'redis/*',
  'logs/*',
  'genesis.json',
  'keys/*',
  'secrets/*',
]

it('each key and each file has a row, with an owner and a bound', async ({ fileResources }) => {
  const cluster = fileResources.opened(await startCluster({ nodes: 1 }))
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
  await fillTo(cluster, FIRST_SNAPSHOT)

  const places = placesThatStay()
  const keysOf = async (name: string): Promise<readonly string[]> => {
    const config = readFileSync(join(dataDir, 'redis', name, 'redis.conf'), 'utf8')
    const redis = new Redis({ path: /^unixsocket "(.*)"$/m.exec(config)?.[1] ?? '' })
    try {
      return await redis.keys('*')
    } finally {
      redis.disconnect()
    }
  }
  const filesOf = () =>
    readdirSync(dataDir, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(dataDir.length + 1))
  const stored = async () => [
    ...(await keysOf('sv-1')),
    ...(await keysOf('validator')),
    ...filesOf(),
  ]
  const matches = (place: string, name: string) => places.get(place)?.test(name) === true
  const known = [...places.keys()]

  const missing = async () => {
    const names = await stored()
    return CREATED.filter((place) => !names.some((name) => matches(place, name)))
  }
  await untilTrue('the first snapshot', async () => !(await missing()).includes('snapshots/*'))
  expect(await missing()).toEqual([])
  const names = await stored()
  expect(names.filter((name) => !known.some((place) => matches(place, name)))).toEqual([])
})
