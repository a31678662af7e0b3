/**
 * What each process holds returns to what it was: clients of every operation leave at every moment, and then the numbers
 * that its operator sees are those from before (`quorumscan_held`, resources of Node.js, open files).
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CERTIFIED_MEDIA_TYPE, socketRoutes } from '@quorumscan/api'
import { until } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import type { RunningCluster } from 'quorumscan/testing'
import { expect } from 'vitest'
import { startCluster } from '../support/clusters.ts'
import { grown, type Holder, type Holdings, holdingsOf, largest } from '../support/held.ts'
import { type Exchange, exchangeOf, LEAVES, leave, socketExchangeOf } from '../support/leaving.ts'
import { ownSecret } from '../support/network.ts'
import { isReachable } from '../support/routes/case.ts'
import { requestOf } from '../support/routes/send-case.ts'
import { createWorld, type World } from '../support/routes/world.ts'
import { routeCases, socketCases } from '../support/routes.ts'

/** Of each exchange and moment: more than numbers vary by without clients. */
const COUNT = 12
/** A change takes longer. */
const COUNT_OF_CHANGES = 4
/** Samples without clients: background work comes and goes. */
const SAMPLES = 12
const SAMPLE_INTERVAL_MS = 300

const it = base
  .extend('cluster', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await startCluster({ nodes: 1 })),
  )
  .extend('world', { scope: 'file' }, ({ cluster }) => createWorld(cluster))

async function holdersOf({ dataDir, urls }: RunningCluster): Promise<readonly Holder[]> {
  const { content } = JSON.parse(readFileSync(join(dataDir, 'control.json'), 'utf8'))
  const token = await ownSecret({ dataDir }, 'secrets/control')
  return [
    { name: 'sv-1', url: urls.nodes['sv-1'] ?? '' },
    { name: 'validator', url: urls.validator },
    { name: 'synchronizer', url: urls.synchronizer },
    { name: 'control plane', url: content.url, token },
  ]
}

async function requestsOf(
  world: World,
  isWanted: (method: string) => boolean,
): Promise<readonly Exchange[]> {
  const exchanges: Exchange[] = []
  for (const { surface, route, of } of routeCases) {
    if (!isWanted(route.method) || !isReachable(of.success)) continue
    const input = { ...(await of.success(world)), surface, route }
    exchanges.push(exchangeOf(requestOf(world, input)))
  }
  return exchanges
}

/** Requests of each operation that changes something. */
async function changesOf(world: World): Promise<readonly Exchange[]> {
  return await requestsOf(world, (method) => method !== 'GET')
}

/** Requests of each operation that changes nothing, each WebSocket, and requests that wait. */
async function exchangesOf(world: World): Promise<readonly Exchange[]> {
  const exchanges = [...(await requestsOf(world, (method) => method === 'GET'))]
  for (const [id, { success }] of Object.entries(socketCases)) {
    const { path } = socketRoutes[id as keyof typeof socketRoutes]
    const { token } = world.user
    const frame = await success(world)
    exchanges.push(socketExchangeOf(`${world.urls.validator}${path}`, { token, frame }))
  }
  const { scan } = world.urls
  const get = (path: string, headers: Record<string, string> = {}) =>
    exchangeOf({ url: `${scan}${path}`, method: 'GET', headers, body: null }, { isWaiting: true })
  const far = Number.MAX_SAFE_INTEGER
  return [
    ...exchanges,
    get(`/v0/state-statements?after=${far}`),
    get(`/v0/ans-entries/by-name/${world.name}?min_offset=${far}`, {
      accept: CERTIFIED_MEDIA_TYPE,
    }),
    get(`/v0/ans-entries/by-name/${world.name}`, {
      'x-read-at-offset': `${(await world.head()) + 100}`,
    }),
  ]
}

type Story = (exchanges: readonly Exchange[], rounds: number) => Promise<void>

/** Each exchange, left at each moment, so many times. */
const story: Story = async (exchanges, rounds) => {
  for (const how of Object.values(LEAVES))
    for (let round = 0; round < rounds; round++)
      await Promise.all(exchanges.map((exchange) => leave(exchange, how)))
}

/** The largest numbers without clients. */
async function quietHoldings(holders: readonly Holder[]): Promise<readonly Holdings[]> {
  const samples: Holdings[][] = holders.map(() => [])
  await until(
    'samples without clients',
    async () => {
      for (const [index, holder] of holders.entries())
        samples[index]?.push(await holdingsOf(holder))
      return (samples[0]?.length ?? 0) >= SAMPLES ? true : undefined
    },
    { intervalMs: SAMPLE_INTERVAL_MS },
  )
  return samples.map(largest)
}

/** What is still more than before when the wait for the numbers of before ends, a row for each. */
async function leftOver(
  holders: readonly Holder[],
  before: readonly Holdings[],
): Promise<readonly string[]> {
  let rows: readonly string[] = []
  await until('the numbers of before', async () => {
    const after = await Promise.all(holders.map(holdingsOf))
    rows = holders.flatMap(({ name }, index) =>
      grown(name, before[index] ?? new Map(), after[index] ?? new Map()),
    )
    return rows.length === 0 ? true : undefined
  }).catch(() => {}) // The rows say more.
  return rows
}

it('holds nothing for clients that have left, at whatever moment', async ({ cluster, world }) => {
  const holders = await holdersOf(cluster)
  const exchanges = await exchangesOf(world)
  // Pools of connections, and code that is loaded at its first use.
  await story(exchanges, 1)
  const before = await quietHoldings(holders)
  await story(exchanges, COUNT)
  expect(await leftOver(holders, before)).toEqual([])
})

it('holds nothing for clients that have left while something changes', {
  tags: ['rest'],
}, async ({ cluster, world }) => {
  const holders = await holdersOf(cluster)
  const exchanges = await changesOf(world)
  await story(exchanges, 1)
  const before = await quietHoldings(holders)
  await story(exchanges, COUNT_OF_CHANGES)
  expect(await leftOver(holders, before)).toEqual([])
})
