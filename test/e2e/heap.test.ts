/**
 * What a process keeps for the requests that it has answered, in memory: each process answers thousands of reads of every
 * operation, and its objects are measured by snapshots of its heap. Compiled code does not count: it grows for minutes.
 *
 * @module-tag long
 */
import { median } from '@quorumscan/base'
import { send } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import type { RunningCluster } from 'quorumscan/testing'
import { expect } from 'vitest'
import { startCluster } from '../support/clusters.ts'
import { objectBytesOf } from '../support/heap.ts'
import { isReachable } from '../support/routes/case.ts'
import { requestOf, type Surface } from '../support/routes/send-case.ts'
import { createWorld, type World } from '../support/routes/world.ts'
import { routeCases } from '../support/routes.ts'

/** Requests before the first measurement: pools fill, code is compiled. */
const WARM = 2_000
const ROUND = 2_000
const ROUNDS = 4
/** Requests at a time. */
const LANES = 8
/** What 10 000 requests may leave: less than 20 bytes for each. What is kept for a request has more. */
const BYTES_OF_10_000_MAX = 200_000

const it = base
  .extend('cluster', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await startCluster({ nodes: 1 })),
  )
  .extend('world', { scope: 'file' }, ({ cluster }) => createWorld(cluster))

/** Operations that change nothing, although they are no GET. */
const READS = /^(lookup|list|get|post(?=ActiveContractsPage))/
/** It does not end. */
const ENDLESS = 'followLog'

type Exchange = Parameters<typeof send>

async function readsOf(world: World, surfaces: readonly Surface[]): Promise<readonly Exchange[]> {
  const exchanges: Exchange[] = []
  for (const { surface, route, of } of routeCases) {
    const isRead = route.method === 'GET' || READS.test(route.operationId)
    if (!surfaces.includes(surface) || !isRead || route.operationId === ENDLESS) continue
    if (!isReachable(of.success)) continue
    const input = { ...(await of.success(world)), surface, route }
    const { url, ...request } = requestOf(world, input)
    // `fetch` sends no GET with a body.
    if (route.method === 'GET' && request.body !== null) continue
    exchanges.push([url, { ...request, body: request.body ?? undefined }])
  }
  return exchanges
}

async function answer(exchanges: readonly Exchange[], count: number): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < count) {
      const [url, request] = exchanges[next++ % exchanges.length] ?? ['']
      const { status, text } = await send(url, request)
      if (status !== 200) throw new Error(`${url} answered ${status}: ${text}`)
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}

/** The median slope of all pairs of measurements, bytes a request. */
function slopeOf(points: readonly (readonly [requests: number, bytes: number])[]): number {
  const slopes = points.flatMap(([x, y], index) =>
    points.slice(index + 1).map(([otherX, otherY]) => (otherY - y) / (otherX - x)),
  )
  return median(slopes)
}

/** Bytes of caches, which grow to their bounds. */
async function cachedBytes(url: string): Promise<number> {
  const { text } = await send(`${url}/metrics`)
  const series = /^quorumscan_held\{.*name="bytes of cached.*kind="cache".*\} ([0-9]+)$/gm
  return [...text.matchAll(series)].reduce((sum, [, bytes]) => sum + Number(bytes), 0)
}

async function pidsOf(cluster: RunningCluster) {
  const { nodes, validator, synchronizer } = await cluster.status()
  return { scan: nodes[0]?.pid, validator: validator.pid, synchronizer: synchronizer.pid }
}

it.for([
  ['scan', ['scan']],
  ['validator', ['validator', 'ledger']],
  ['synchronizer', ['synchronizer']],
] as const)(
  'the heap of the %s does not grow with the requests that it has answered',
  { tags: ['heap'] },
  async ([name, surfaces], { cluster, world }) => {
    const pid = (await pidsOf(cluster))[name]
    if (pid == null) throw new Error(`the ${name} does not run`)
    const exchanges = await readsOf(world, surfaces)
    await answer(exchanges, WARM)
    const points: [number, number][] = []
    const kinds: ReadonlyMap<string, number>[] = []
    for (let round = 0; round < ROUNDS; round++) {
      await answer(exchanges, ROUND)
      const bytes = await objectBytesOf(pid)
      kinds.push(bytes)
      const sum = [...bytes.values()].reduce((all, one) => all + one, 0)
      points.push([round * ROUND, sum - (await cachedBytes(world.urls[name]))])
    }
    const [first, last] = [kinds.at(0), kinds.at(-1)]
    const grown = [...(last ?? [])]
      .map(([kind, bytes]) => [kind, bytes - (first?.get(kind) ?? 0)] as const)
      .sort(([, a], [, b]) => b - a)
    const what = `bytes of objects for 10 000 requests of the ${name}; ${JSON.stringify(points)}, ${grown.slice(0, 12).join('; ')}`
    expect(Math.round(slopeOf(points) * 10_000), what).toBeLessThanOrEqual(BYTES_OF_10_000_MAX)
  },
)
