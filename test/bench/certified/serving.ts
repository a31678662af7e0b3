/** Measures the speed of certified answers of a real cluster, compared with other answers. */
import { CERTIFIED_MEDIA_TYPE } from '@quorumscan/api'
import { createSystemClock, median, Resources, waitFor } from '@quorumscan/base'
import type { RunningCluster } from 'quorumscan/testing'
import { type Child, startChild } from '../../support/child.ts'
import type { Load } from '../../support/load.ts'
import {
  CONNECTIONS,
  cpuMicrosOf,
  loaderOf,
  lookupsOf,
  nextToPages,
  nodeUrl,
  PROXY_PATH,
  type Spent,
  spentBy,
  startBenchCluster,
  startReverseProxy,
} from '../lookups.ts'
import { genesisOf } from '../proxy/clients.ts'
import { createRegistrar, nameOf, registerNames } from '../proxy/names.ts'
import { measureVisible } from '../proxy/visible.ts'
import { atLeast, atMost, type Budget, print, printRow, round } from '../report.ts'
import { inTurn, ratiosOf, type Turns } from '../turns.ts'
import type { BareArgument } from './bare-child.ts'
import type { SdkArgument } from './sdk-child.ts'

type Serving = {
  /** Lookups over many connections, with the resources of the server. */
  readonly many: Turns<'bare' | 'plain' | 'absent' | 'certified' | 'proxied', Spent>
  /** Lookups of a single caller. `fetch` and `resolve` send requests to the nodes. */
  readonly alone: Turns<'reverse' | 'certified' | 'voted' | 'fetch' | 'resolve', Load>
  /** Lookups of one SDK client with CONNECTIONS concurrent lookups, voted lookups, and an idle period. */
  readonly cpu: Turns<'resolve' | 'voted' | 'idle', Spent>
  /** Certified lookups without and with concurrent pages. */
  readonly pages: Turns<'node' | 'nodePages' | 'proxy' | 'proxyPages', Load>
  /** Time from record time to the certified answer, ms. */
  readonly visibleMs: { readonly idle: readonly number[]; readonly busy: readonly number[] }
}
export type ServingOptions = {
  readonly turns: number
  /** Duration of one slice of a turn. */
  readonly ms: number
  /** Duration of slices in which processor time is measured. */
  readonly cpuMs: number
  readonly servedCount: number
  /** Names of which the time to a certified answer is measured. */
  readonly visibleCount: number
}

const BARE = 'bench/certified/bare-child'
const SDK = 'bench/certified/sdk-child'
const BUSY_USERS = 4
const POLL_MS = 5
const FOUND_MS_MAX = 60_000
const CERTIFIED = { accept: CERTIFIED_MEDIA_TYPE }
const BY_PROXY = { 'x-quorum': 'certified' }
const NO_LOAD: Load = {
  count: 0,
  perSecond: 0,
  p50Ms: Number.NaN,
  p99Ms: Number.NaN,
  failureCount: 0,
  firstFailure: null,
}
const clock = createSystemClock()
const perSecond = ({ load }: Spent) => load.perSecond
const p50 = ({ p50Ms }: Load) => p50Ms
const p99 = ({ p99Ms }: Load) => p99Ms

export async function measureServing(options: ServingOptions): Promise<void> {
  await using cluster = await startBenchCluster(4)
  const visible = () =>
    measureVisible(cluster, options.visibleCount, (name) => untilCertified(cluster, name))
  const visibleMs = { idle: await visible(), busy: await whileBusy(cluster, visible) }
  await registerNames(cluster, options.servedCount)
  printServing({ visibleMs, ...(await measureTurns(cluster, options)) })
}

async function measureTurns(
  cluster: RunningCluster,
  { turns, ms, cpuMs, servedCount }: ServingOptions,
): Promise<Omit<Serving, 'visibleMs'>> {
  await using children = new Resources()
  const node = { origin: nodeUrl(cluster), prefix: '/v0', nameCount: servedCount / 2, ms }
  const proxy = { ...node, origin: cluster.urls.validator, prefix: PROXY_PATH }
  const genesis = await genesisOf(cluster)
  const names = Array.from({ length: servedCount / 2 }, (_, index) => nameOf(index))

  const originOf = async (child: Child): Promise<string> =>
    (await children.opened(child).result<{ origin: string }>()).origin
  const client = (kind: SdkArgument['kind']) => {
    const argument: SdkArgument = {
      kind,
      url: node.origin,
      names,
      connections: CONNECTIONS,
      genesis,
      ms,
    }
    return loaderOf(children, startChild(SDK, argument))
  }
  const lookups = (target: Parameters<typeof lookupsOf>[1]) => lookupsOf(children, target)

  const body = await bodyOf(node)
  const [bare, reverse, proxied, voted] = await Promise.all([
    originOf(startChild(BARE, { body } satisfies BareArgument)),
    originOf(startReverseProxy(node.origin)),
    lookups({ ...proxy, headers: BY_PROXY }),
    lookups(proxy),
  ])
  const ofNode = async (target: Partial<typeof node> & Parameters<typeof lookups>[0]) =>
    spentBy([target.origin], await lookups(target))
  const [ofBare, plain, absent, certified] = await Promise.all([
    ofNode({ ...node, origin: bare }),
    ofNode(node),
    ofNode({ ...node, nameAt: (index) => `no-${index}`, status: 404 }),
    ofNode({ ...node, headers: CERTIFIED }),
  ])
  const many = await inTurn(turns, {
    bare: ofBare,
    plain,
    absent,
    certified,
    proxied: spentBy([proxy.origin], proxied),
  })

  const resolve = await client('resolve')
  const byNodes = (run: () => Promise<Load>) => spentBy(Object.values(cluster.urls.nodes), run)
  const cpu = await inTurn(turns, {
    resolve: byNodes(() => resolve({ ms: cpuMs })),
    voted: byNodes(() => voted({ ms: cpuMs })),
    idle: byNodes(async () => {
      await clock.delay(cpuMs)
      return NO_LOAD
    }),
  })

  // Clients and servers are warm from the lookups before. A single caller would need seconds to warm them up.
  const byOne = (run: typeof voted) => () => run({ connections: 1 })
  const alone = await inTurn(turns, {
    reverse: byOne(await lookups({ ...node, origin: reverse })),
    certified: byOne(proxied),
    voted: byOne(voted),
    fetch: byOne(await client('fetch')),
    resolve: byOne(resolve),
  })

  const [atNode, atProxy] = await Promise.all([
    nextToPages(children, { ...node, headers: CERTIFIED }),
    nextToPages(children, { ...proxy, headers: BY_PROXY }),
  ])
  const pages = await inTurn(turns, {
    node: atNode.alone,
    nodePages: atNode.together,
    proxy: atProxy.alone,
    proxyPages: atProxy.together,
  })
  return { many, alone, cpu, pages }
}

/** The answer of a node to a lookup of the first name. */
async function bodyOf(node: { readonly origin: string; readonly prefix: string }): Promise<string> {
  return (await fetch(`${node.origin}${node.prefix}/ans-entries/by-name/${nameOf(0)}`)).text()
}

/** Waits until a node proves the entry, and returns it. */
export function untilCertified(
  cluster: RunningCluster,
  name: string,
): Promise<{ readonly expires_at: string }> {
  const url = `${nodeUrl(cluster)}/v0/ans-entries/by-name/${name}`
  return waitFor(
    async () => {
      const { proof } = (await (await fetch(url, { headers: CERTIFIED })).json()) as {
        proof?: readonly (number | string | { readonly value?: string })[]
      }
      const values = (proof ?? []).flatMap((item) =>
        typeof item === 'object' ? (item.value ?? []) : [],
      )
      return values[0] === undefined ? undefined : JSON.parse(values[0])
    },
    { clock, timeoutMs: FOUND_MS_MAX, intervalMs: POLL_MS, what: `${name} to be certified` },
  )
}

/** Runs the work while users register names, one after the other. */
async function whileBusy<Result>(
  cluster: RunningCluster,
  run: () => Promise<Result>,
): Promise<Result> {
  let isDone = false
  const users = Array.from({ length: BUSY_USERS }, async (_, user) => {
    const register = await createRegistrar(cluster, `busy-${user}`)
    for (let each = 0; !isDone; each++) await register(`busy-${user}-${each}.unverified.ns`)
  })
  try {
    return await run()
  } finally {
    isDone = true
    await Promise.all(users)
  }
}

function printServing({ many, alone, cpu, pages, visibleMs }: Serving): void {
  const rate = (slices: readonly Spent[]) => round(median(slices.map(perSecond)))
  print(
    `lookups/s, ${CONNECTIONS} connections: bare ${rate(many.bare)}, plain ${rate(many.plain)}, certified ${rate(many.certified)}, certified by the proxy ${rate(many.proxied)}`,
  )
  for (const [side, title] of [
    ['bare', 'a bare answer'],
    ['plain', 'a plain lookup'],
    ['certified', 'a certified one'],
    ['proxied', 'a certified one of the proxy'],
  ] as const)
    row(`processor time of the server for ${title}, µs`, many[side].map(cpuMicrosOf))
  row(
    'plain lookups/s of a node ÷ bare fastify',
    ratiosOf(many.plain, many.bare, perSecond),
    atLeast(0.45),
  )
  row(
    'plain lookups/s of absent names ÷ of present ones',
    ratiosOf(many.absent, many.plain, perSecond),
    atLeast(0.8),
  )
  row(
    'certified lookups/s of a node ÷ plain ones',
    ratiosOf(many.certified, many.plain, perSecond),
    atLeast(0.7),
  )
  row(
    'certified lookups/s of the proxy ÷ plain ones of a node',
    ratiosOf(many.proxied, many.plain, perSecond),
    atLeast(0.75),
  )
  row('processors of all nodes: a lookup of the SDK ÷ a voted one', cpuRatios(cpu), atMost(0.4))
  row(
    'one SDK caller alone: p50 of resolve ÷ of one unverified fetch',
    ratiosOf(alone.resolve, alone.fetch, p50),
    atMost(2),
  )
  row(
    'one caller alone: p50 certified by the proxy ÷ plain reverse proxy',
    ratiosOf(alone.certified, alone.reverse, p50),
    atMost(1),
  )
  row(
    'one caller alone: p50 voted ÷ plain reverse proxy',
    ratiosOf(alone.voted, alone.reverse, p50),
    atMost(4),
  )
  row(
    'certified p99 of a node next to 100 pages of 1000/s ÷ alone',
    ratiosOf(pages.nodePages, pages.node, p99),
    atMost(2),
  )
  row(
    'certified p99 of the proxy next to 100 pages of 1000/s ÷ alone',
    ratiosOf(pages.proxyPages, pages.proxy, p99),
    atMost(2),
  )
  row('record time to certified answer, p95, busy, ms', [p95(visibleMs.busy)], atMost(400))
  row('record time to certified answer, p95, idle, ms', [p95(visibleMs.idle)], atMost(600))
}

function row(what: string, values: readonly number[], budget: Budget | null = null): void {
  printRow({ what, values, budget })
}

/** Ratios of the processor time per lookup, without the processor time of idle nodes. */
function cpuRatios({ resolve, voted, idle }: Serving['cpu']): number[] {
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  const idleShare = sum(idle.map(({ cpuMs }) => cpuMs)) / sum(idle.map(({ ms }) => ms))
  return ratiosOf(resolve, voted, ({ cpuMs, ms, load }) => (cpuMs - idleShare * ms) / load.count)
}

function p95(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(0.95 * values.length) - 1] ?? Number.NaN
}
