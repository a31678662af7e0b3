/**
 * Compares the price of each route with its work: the processor time of all processes for a unit that its caller paid, as a
 * multiple of the plain lookup's. Each request has the largest permitted arguments.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assert, createSystemClock } from '@quorumscan/base'
import { readOwnJson } from '@quorumscan/runtime'
import { send } from '@quorumscan/testkit'
import { type RunningCluster, startCluster } from 'quorumscan/testing'
import { NETWORK_RULES } from '../../support/network.ts'
import { type Build, type Input, isReachable } from '../../support/routes/case.ts'
import { sendCase } from '../../support/routes/send-case.ts'
import { createWorld, type World } from '../../support/routes/world.ts'
import { type RouteCase, routeCases } from '../../support/routes.ts'
import { nameOf, registerNames } from '../proxy/names.ts'
import { atMost, print, printRow, printSkipped } from '../report.ts'

export type PricesOptions = {
  readonly nameCount: number
  /** Of the processes, for one route: requests are sent until they took as much. */
  readonly cpuMs: number
  /** Requests of a route that only reads, at most. */
  readonly readsMax: number
  /** Requests of one that changes something: each needs contracts of its own. */
  readonly writes: number
}

/** How far a price may be from that of the plain lookup. */
const RATIO_MAX = 4
const PAGE_MAX = 1_000
const BATCH_MAX = 256
/** Elements of a list under `/v2`, and of a page of active contracts. */
const LIST_MAX = 200
const ACTIVE_PAGE_MAX = 2_000
const IDLE_MS = 5_000
const TOO_MANY = 429
const PAUSE_MS = 1_000
/** No limit. */
const RATE_LIMIT = 10_000_000
/** At a time: a process that answers one after the other mostly wakes up. */
const AT_ONCE = 4
/** Linux reports processor time in hundredths of a second on every machine. */
const MS_PER_TICK = 10
const PLAIN_LOOKUP = 'scan getEntryByName'
const clock = createSystemClock()

const formatOf = ({ user }: World) => ({ filtersByParty: { [user.party]: {} }, verbose: false })
const activePage = (world: World) => ({
  body: { activeAtOffset: 1, eventFormat: formatOf(world), maxPageSize: ACTIVE_PAGE_MAX },
})

const batch = () => Array.from({ length: BATCH_MAX }, (_, index) => ({ name: nameOf(index) }))

/** Of routes whose work depends on an argument: the largest that is permitted. Others have none, and send their case. */
const LARGEST: Readonly<Record<string, Build>> = {
  listEntries: () => ({ query: { page_size: PAGE_MAX } }),
  listEntriesByParty: ({ user }) => ({
    params: { party: user.party },
    query: { page_size: PAGE_MAX },
  }),
  lookupEntries: () => ({ body: { lookups: batch() } }),
  listActivities: () => ({ body: { page_size: PAGE_MAX } }),
  proxyListEntries: () => ({ query: { page_size: PAGE_MAX } }),
  proxyListEntriesByParty: ({ user }) => ({
    params: { party: user.party },
    query: { page_size: PAGE_MAX },
  }),
  proxyLookupEntries: () => ({ body: { lookups: batch() } }),
  proxyListActivities: () => ({ body: { page_size: PAGE_MAX } }),
  listCoins: () => ({ query: { page_size: PAGE_MAX } }),
  listTransfers: () => ({ query: { page_size: PAGE_MAX } }),
  listTransactions: () => ({ body: { page_size: PAGE_MAX } }),
  getUpdates: async (world) => ({
    query: { limit: LIST_MAX },
    body: {
      beginExclusive: 0,
      endInclusive: await world.ledgerEnd(),
      updateFormat: {
        includeTransactions: {
          eventFormat: formatOf(world),
          transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA',
        },
      },
    },
  }),
  // At an old offset: all that was archived since is read, too.
  getActiveContracts: (world) => ({
    query: { limit: LIST_MAX },
    body: { activeAtOffset: 1, eventFormat: formatOf(world) },
  }),
  getActiveContractsPage: activePage,
  postActiveContractsPage: activePage,
}

export async function measurePrices(options: PricesOptions): Promise<void> {
  await using cluster = await startCluster({
    nodes: 4,
    basePort: 0,
    rateLimit: RATE_LIMIT,
    // Each name can be renewed at once.
    genesisOverrides: NETWORK_RULES,
  })
  const startedMs = clock.monotonicMs()
  await registerNames(cluster, options.nameCount)
  print(`${options.nameCount} names in ${Math.round((clock.monotonicMs() - startedMs) / 1000)} s`)
  const world = await createWorld(cluster)
  const idle = await idleOf(cluster)
  const measured = new Map<string, Price>()
  for (const routeCase of routeCases) {
    const { surface, route } = routeCase
    const what = `${surface} ${route.operationId}`
    try {
      const price = await priceOf(routeCase, { cluster, world, idle, options })
      if (price === null) printSkipped(`${what}: no request of a healthy network succeeds`)
      else measured.set(what, price)
    } catch (error) {
      print(`FAILED   ${what}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  const plain = measured.get(PLAIN_LOOKUP)
  assert(plain !== undefined, 'the plain lookup was measured')
  for (const [what, { cpuMs, units, count }] of measured) {
    const perUnit = units === 0 ? null : cpuMs / units
    print(
      `${what.padEnd(46)} ${(cpuMs / count).toFixed(2).padStart(9)} ms, ${(units / count).toFixed(1).padStart(7)} units`,
    )
    if (perUnit === null) continue
    printRow({
      what: `${what}: processor time of a unit ÷ of a plain lookup`,
      values: [perUnit / (plain.cpuMs / plain.units)],
      budget: atMost(RATIO_MAX),
    })
  }
}

type Price = {
  readonly count: number
  readonly units: number
  /** Of all processes, without their idle work. */
  readonly cpuMs: number
}

/** Processor time of all processes of the cluster for each ms, while nobody asks. */
async function idleOf(cluster: RunningCluster): Promise<number> {
  const before = cpuMsOf(cluster)
  await clock.delay(IDLE_MS)
  return (cpuMsOf(cluster) - before) / IDLE_MS
}

async function priceOf(
  { surface, route, of }: RouteCase,
  target: {
    readonly cluster: RunningCluster
    readonly world: World
    readonly idle: number
    readonly options: PricesOptions
  },
): Promise<Price | null> {
  const { cluster, world, idle, options } = target
  const build = LARGEST[route.operationId] ?? of.success
  if (!isReachable(build) || route.operationId === 'followLog') return null
  const one: Input = await build(world)
  const url = one.url ?? world.urls[surface]
  const ask = async (input: Input) => {
    for (;;) {
      const { status, text } = await sendCase(world, { ...input, surface, route })
      if (status < 300) return
      // The log's budget of a signer, which is none of the server's.
      if (status !== TOO_MANY) throw new Error(`${status} ${text.slice(0, 200)}`)
      await clock.delay(PAUSE_MS)
    }
  }
  await ask(one)
  const isRepeatable = /^(?:get|list|lookup|proxy|judge|livez|readyz)/.test(route.operationId)
  const inputs: Input[] = []
  if (!isRepeatable)
    for (let count = 0; count < options.writes; count++) inputs.push(await build(world))
  const countMax = isRepeatable ? options.readsMax : inputs.length
  const before = { cpu: cpuMsOf(cluster), units: await unitsOf(url, route.operationId) }
  const beganMs = clock.monotonicMs()
  let count = 0
  const cpuMs = () =>
    Math.max(0, cpuMsOf(cluster) - before.cpu - idle * (clock.monotonicMs() - beganMs))
  while (count < countMax && (count === 0 || !isRepeatable || cpuMs() < options.cpuMs)) {
    const size = Math.min(AT_ONCE, countMax - count)
    await Promise.all(Array.from({ length: size }, (_, at) => ask(inputs[count + at] ?? one)))
    count += size
  }
  return { count, cpuMs: cpuMs(), units: (await unitsOf(url, route.operationId)) - before.units }
}

/** Units that callers of the operation paid to this process. */
async function unitsOf(url: string, operation: string): Promise<number> {
  const { text } = await send(`${url}/metrics`)
  const name = 'quorumscan_http_request_units_total'
  return Number(
    new RegExp(`^${name}\\{operation="${operation}"\\} ([0-9.e+]+)$`, 'm').exec(text)?.[1] ?? 0,
  )
}

/** Processor time of all processes that the cluster started, Redis included. */
function cpuMsOf({ dataDir }: RunningCluster): number {
  let ticks = 0
  const started = readOwnJson(join(dataDir, 'processes.json')) as readonly {
    readonly pid: number
  }[]
  for (const { pid } of started) {
    // The process name, which may contain any character, is in brackets.
    const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')
    const [user, system] = rest.split(' ').slice(11, 13).map(Number)
    ticks += Number(user) + Number(system)
  }
  return ticks * MS_PER_TICK
}
