/** How quick certified answers of a real cluster are, beside what they take the place of. */
import { CERTIFIED_MEDIA_TYPE } from '@quorumscan/api'
import { createSystemClock, waitFor } from '@quorumscan/base'
import type { RunningCluster } from 'quorumscan/testing'
import { runChild, startChild } from '../child.ts'
import type { Load } from '../load.ts'
import { genesisOf } from '../proxy/clients.ts'
import { createRegistrar, nameOf, registerNames } from '../proxy/names.ts'
import {
  besidePages,
  CONNECTIONS,
  checked,
  loadOf,
  NAME_COUNT,
  type Pair,
  PROXY_PATH,
  startBenchCluster,
  startReverseProxy,
} from '../proxy/round.ts'
import { measureVisible } from '../proxy/visible.ts'
import { median, print, printRow, type Row, round } from '../report.ts'
import type { BareArgument } from './bare-child.ts'
import type { SdkArgument } from './sdk-child.ts'

type Serving = {
  readonly bare: Load
  readonly direct: Load
  readonly absent: Load
  readonly certified: Load
  readonly proxied: Load
  readonly voted: Load
  /** Of one client process that asks the nodes itself, p50 of lookups one after the other. */
  readonly client: { readonly fetch: number; readonly resolve: number }
  /** Processor time of all nodes, in ms a lookup of one client with as many lookups waiting as connections elsewhere. */
  readonly cpu: { readonly certified: number; readonly voted: number }
  /** p50 of one caller alone. */
  readonly alone: { readonly plain: number; readonly certified: number; readonly voted: number }
  readonly besidePages: { readonly node: Pair; readonly proxy: Pair }
  /** From record time to the certified answer, ms. */
  readonly visibleMs: { readonly idle: readonly number[]; readonly busy: readonly number[] }
}

/** Until a client's code, which runs once for each lookup of one caller, is compiled, and what is measured is no warm-up. */
const CLIENT_MS_MIN = 6_000
const BARE = new URL('./bare-child.js', import.meta.url)
const SDK = new URL('./sdk-child.js', import.meta.url)
const NAMES_ASKED = 500
const VISIBLE_COUNT = 20
const BUSY_USERS = 4
const IDLE_MS = 8_000
const POLL_MS = 5
const FOUND_MS_MAX = 60_000
const CERTIFIED = { accept: CERTIFIED_MEDIA_TYPE }
const BY_PROXY = { 'x-quorum': 'certified' }
const clock = createSystemClock()

export async function measureServing(options: {
  readonly rounds: number
  readonly ms: number
}): Promise<void> {
  const all: Serving[] = []
  for (let each = 0; each < options.rounds; each++) all.push(await measureRound(options.ms))
  printServing(all)
}

async function measureRound(ms: number): Promise<Serving> {
  await using cluster = await startBenchCluster(4)
  const visibleMs = {
    idle: await measureVisible(cluster, VISIBLE_COUNT, (name) => untilCertified(cluster, name)),
    busy: await whileBusy(cluster, () =>
      measureVisible(cluster, VISIBLE_COUNT, (name) => untilCertified(cluster, name)),
    ),
  }
  await registerNames(cluster, NAME_COUNT)
  const node = { origin: nodeUrl(cluster), prefix: '/v0', nameCount: NAMES_ASKED, ms }
  const proxy = { ...node, origin: cluster.urls.validator, prefix: PROXY_PATH }
  await using reverseProxy = startReverseProxy(node.origin)
  const { origin } = await reverseProxy.result<{ origin: string }>()
  const many = { connections: CONNECTIONS }
  const one = { connections: 1 }
  await using bareServer = startChild(BARE, { body: await bodyOf(node) } satisfies BareArgument)
  const bare = await warmLoadOf({
    ...node,
    ...many,
    origin: (await bareServer.result<{ origin: string }>()).origin,
  })
  const direct = await warmLoadOf({ ...node, ...many })
  const absent = await warmLoadOf({
    ...{ ...node, ...many },
    nameAt: (index) => `no-${index}`,
    status: 404,
  })
  const certified = await warmLoadOf({ ...node, ...many, headers: CERTIFIED })
  const genesis = await genesisOf(cluster)
  const names = Array.from({ length: NAMES_ASKED }, (_, index) => nameOf(index))
  const clientLoad = async (kind: SdkArgument['kind'], concurrency: number) => {
    const clientMs = Math.max(ms, CLIENT_MS_MIN)
    const shared = { kind, url: node.origin, names, concurrency, genesis }
    const argument: SdkArgument = { ...shared, ms: clientMs }
    return checked(await runChild<Load>(SDK, argument))
  }
  const client = {
    fetch: (await clientLoad('fetch', 1)).p50Ms,
    resolve: (await clientLoad('resolve', 1)).p50Ms,
  }
  const resolved = await withCpu(cluster, () => clientLoad('resolve', CONNECTIONS))
  const votedMs = Math.max(ms, CLIENT_MS_MIN)
  const voted = await withCpu(cluster, () => loadOf({ ...proxy, ...many, ms: votedMs }))
  const proxied = await warmLoadOf({ ...proxy, ...many, headers: BY_PROXY })
  const alone = {
    plain: (await loadOf({ ...node, origin, ...one })).p50Ms,
    certified: (await loadOf({ ...proxy, ...one, headers: BY_PROXY })).p50Ms,
    voted: (await loadOf({ ...proxy, ...one })).p50Ms,
  }
  const besideNode = await besidePages({ ...node, headers: CERTIFIED })
  const besideProxy = await besidePages({ ...proxy, headers: BY_PROXY })
  return {
    ...{ bare, direct, absent },
    certified,
    client,
    proxied,
    voted: voted.load,
    cpu: { certified: resolved.cpuMs, voted: voted.cpuMs },
    alone,
    besidePages: { node: besideNode.pair, proxy: besideProxy.pair },
    visibleMs,
  }
}

/**
 * A load of a server that has had one like it: a process has the code of what it was not asked for yet compiled while
 * it answers, which takes as long as a round.
 */
async function warmLoadOf(options: Parameters<typeof loadOf>[0]): Promise<Load> {
  await loadOf(options)
  return loadOf(options)
}

/** What a node answers to the first name. */
async function bodyOf(node: { readonly origin: string; readonly prefix: string }): Promise<string> {
  return (await fetch(`${node.origin}${node.prefix}/ans-entries/by-name/${nameOf(0)}`)).text()
}

function nodeUrl(cluster: RunningCluster): string {
  return cluster.urls.nodes['sv-1'] ?? ''
}

/**
 * A load, and what a lookup of it took of the processors of all nodes, those of its warm-up included; what they
 * take without any is taken off.
 */
async function withCpu(
  cluster: RunningCluster,
  run: () => Promise<Load>,
): Promise<{ readonly load: Load; readonly cpuMs: number }> {
  const took = async <Result>(what: () => Promise<Result>) => {
    const [seconds, ms] = [await cpuSeconds(cluster), clock.monotonicMs()]
    const result = await what()
    const cpuMs = ((await cpuSeconds(cluster)) - seconds) * 1_000
    return { result, cpuMs, ms: clock.monotonicMs() - ms }
  }
  const idle = await took(() => clock.delay(IDLE_MS))
  const busy = await took(run)
  const cpuMs = busy.cpuMs - (idle.cpuMs / idle.ms) * busy.ms
  return { load: busy.result, cpuMs: cpuMs / busy.result.count }
}

async function cpuSeconds(cluster: RunningCluster): Promise<number> {
  const seconds = Object.values(cluster.urls.nodes).map(async (url) => {
    const text = await (await fetch(`${url}/metrics`)).text()
    return Number(/^process_cpu_seconds_total (\S+)/m.exec(text)?.[1])
  })
  return (await Promise.all(seconds)).reduce((sum, each) => sum + each, 0)
}

/** The entry, as soon as a node proves it. */
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

/** Runs beside users who register names, one after the other. */
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

function printServing(all: readonly Serving[]): void {
  const rate = (side: 'bare' | 'direct' | 'certified' | 'proxied' | 'voted') =>
    round(median(all.map((one) => one[side].perSecond)))
  print(
    `lookups/s, ${CONNECTIONS} connections: bare ${rate('bare')}, plain ${rate('direct')}, certified ${rate('certified')}, certified by the proxy ${rate('proxied')}, voted ${rate('voted')}`,
  )
  const row = (what: string, of: (one: Serving) => number, budget: Row['budget']) =>
    printRow({ what, value: median(all.map(of)), budget })
  const atLeast = (value: number) => ({ kind: 'at least', value }) as const
  const atMost = (value: number) => ({ kind: 'at most', value }) as const
  row(
    'plain lookups/s of a node ÷ bare fastify',
    (one) => one.direct.perSecond / one.bare.perSecond,
    atLeast(0.5),
  )
  row(
    'plain lookups/s of absent names ÷ of present ones',
    (one) => one.absent.perSecond / one.direct.perSecond,
    atLeast(0.8),
  )
  row(
    'certified lookups/s of a node ÷ plain ones',
    (one) => one.certified.perSecond / one.direct.perSecond,
    atLeast(0.7),
  )
  row(
    'one SDK caller alone: p50 of resolve ÷ of one unverified fetch',
    (one) => one.client.resolve / one.client.fetch,
    atMost(2),
  )
  row(
    'processors of all nodes: a lookup of the SDK ÷ a voted one',
    (one) => one.cpu.certified / one.cpu.voted,
    atMost(0.4),
  )
  row(
    'certified lookups/s of the proxy ÷ plain ones of a node',
    (one) => one.proxied.perSecond / one.direct.perSecond,
    atLeast(0.9),
  )
  row(
    'one caller alone: p50 certified by the proxy ÷ plain reverse proxy',
    (one) => one.alone.certified / one.alone.plain,
    atMost(1),
  )
  row(
    'one caller alone: p50 voted ÷ plain reverse proxy',
    (one) => one.alone.voted / one.alone.plain,
    atMost(4),
  )
  const p99 = ({ before, during }: Pair) => during.p99Ms / before.p99Ms
  row(
    'certified p99 of a node beside 100 pages of 1000/s ÷ alone',
    (one) => p99(one.besidePages.node),
    atMost(2),
  )
  row(
    'certified p99 of the proxy beside 100 pages of 1000/s ÷ alone',
    (one) => p99(one.besidePages.proxy),
    atMost(2),
  )
  row(
    'record time to certified answer, p95, busy, ms',
    (one) => p95(one.visibleMs.busy),
    atMost(400),
  )
  row(
    'record time to certified answer, p95, idle, ms',
    (one) => p95(one.visibleMs.idle),
    atMost(600),
  )
}

function p95(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(0.95 * values.length) - 1] ?? Number.NaN
}
