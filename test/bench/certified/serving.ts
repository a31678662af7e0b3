/** How quick certified answers of a real cluster are, beside what they take the place of. */
import { CERTIFIED_MEDIA_TYPE } from '@quorumscan/api'
import { createSystemClock, Resources, waitFor } from '@quorumscan/base'
import type { RunningCluster } from 'quorumscan/testing'
import { type Child, startChild } from '../child.ts'
import type { Load } from '../load.ts'
import { genesisOf } from '../proxy/clients.ts'
import { createRegistrar, nameOf, registerNames } from '../proxy/names.ts'
import {
  CONNECTIONS,
  checked,
  NAME_COUNT,
  PROXY_PATH,
  startBenchCluster,
  startLookups,
  startPages,
  startReverseProxy,
} from '../proxy/round.ts'
import { measureVisible } from '../proxy/visible.ts'
import { median, print, printRow, type Row, round } from '../report.ts'
import { inTurn, ratioOf, type Turns } from '../turns.ts'
import type { BareArgument } from './bare-child.ts'
import type { SdkArgument } from './sdk-child.ts'

type Serving = {
  /** Lookups over many connections, with what they took of the server that was asked. */
  readonly many: Turns<'bare' | 'plain' | 'absent' | 'certified' | 'proxied', Spent>
  /** Of one caller alone; `fetch` and `resolve` of one that asks the nodes itself. */
  readonly alone: Turns<'reverse' | 'certified' | 'voted' | 'fetch' | 'resolve', Load>
  /** Lookups of one client with as many waiting as connections elsewhere, those of votes, and none at all. */
  readonly cpu: Turns<'resolve' | 'voted' | 'idle', Spent>
  /** Certified lookups, alone and beside pages. */
  readonly beside: Turns<'node' | 'nodePages' | 'proxy' | 'proxyPages', Load>
  /** From record time to the certified answer, ms. */
  readonly visibleMs: { readonly idle: readonly number[]; readonly busy: readonly number[] }
}
/** Processor time of servers, and what was answered for it. */
type Spent = { readonly cpuMs: number; readonly ms: number; readonly load: Load }

export type ServingOptions = {
  readonly rounds: number
  readonly turns: number
  /** Of one slice of a turn. */
  readonly ms: number
}
/** Of whoever gives many of them. */
type Slice = { readonly connections: number; readonly ms: number }

const BARE = new URL('./bare-child.js', import.meta.url)
const SDK = new URL('./sdk-child.js', import.meta.url)
const NAMES_ASKED = 500
const VISIBLE_COUNT = 20
const BUSY_USERS = 4
/** Of slices in which processor time is counted. */
const CPU_MS = 1_000
const POLL_MS = 5
const FOUND_MS_MAX = 60_000
const CERTIFIED = { accept: CERTIFIED_MEDIA_TYPE }
const BY_PROXY = { 'x-quorum': 'certified' }
const NO_LOAD: Load = {
  ...{ count: 0, perSecond: 0, p50Ms: Number.NaN, p99Ms: Number.NaN },
  ...{ failureCount: 0, firstFailure: null },
}
const clock = createSystemClock()

export async function measureServing(options: ServingOptions): Promise<void> {
  const all: Serving[] = []
  for (let each = 0; each < options.rounds; each++) all.push(await measureRound(options))
  printServing(all)
}

async function measureRound(options: ServingOptions): Promise<Serving> {
  await using cluster = await startBenchCluster(4)
  const visible = () =>
    measureVisible(cluster, VISIBLE_COUNT, (name) => untilCertified(cluster, name))
  const visibleMs = { idle: await visible(), busy: await whileBusy(cluster, visible) }
  await registerNames(cluster, NAME_COUNT)
  return { visibleMs, ...(await measureTurns(cluster, options)) }
}

async function measureTurns(
  cluster: RunningCluster,
  { turns, ms }: ServingOptions,
): Promise<Omit<Serving, 'visibleMs'>> {
  await using children = new Resources()
  const connections = CONNECTIONS
  const node = { origin: nodeUrl(cluster), prefix: '/v0', nameCount: NAMES_ASKED, ms }
  const proxy = { ...node, origin: cluster.urls.validator, prefix: PROXY_PATH }
  const genesis = await genesisOf(cluster)
  const names = Array.from({ length: NAMES_ASKED }, (_, index) => nameOf(index))

  const started = async (child: Child): Promise<string> =>
    (await children.opened(child).result<{ origin: string }>()).origin
  /** A process that is there from now on, and gives a slice whenever it is its turn. */
  const loader = async (child: Child) => {
    checked(await children.opened(child).result<Load>())
    return async (change: Partial<Slice> = {}) => checked(await child.again<Load>(change))
  }
  const lookups = (target: Parameters<typeof startLookups>[0]) => loader(startLookups(target))
  const client = (kind: SdkArgument['kind']) =>
    loader(startChild(SDK, { kind, url: node.origin, names, connections, genesis, ms }))

  const bare = await started(startChild(BARE, { body: await bodyOf(node) } satisfies BareArgument))
  const reverse = await started(startReverseProxy(node.origin))
  const proxied = await lookups({ ...proxy, connections, headers: BY_PROXY })
  const spentBy = (urls: readonly string[], run: () => Promise<Load>) => () => spent(urls, run)
  const ofNode = (run: typeof proxied) => spentBy([node.origin], run)
  const toMany = { ...node, connections }
  const many = await inTurn(turns, {
    bare: spentBy([bare], await lookups({ ...toMany, origin: bare })),
    plain: ofNode(await lookups(toMany)),
    absent: ofNode(await lookups({ ...toMany, nameAt: (index) => `no-${index}`, status: 404 })),
    certified: ofNode(await lookups({ ...toMany, headers: CERTIFIED })),
    proxied: spentBy([proxy.origin], proxied),
  })

  const resolve = await client('resolve')
  const voted = await lookups({ ...proxy, connections })
  const byNodes = (run: () => Promise<Load>) => spentBy(Object.values(cluster.urls.nodes), run)
  const cpu = await inTurn(turns, {
    resolve: byNodes(() => resolve({ ms: CPU_MS })),
    voted: byNodes(() => voted({ ms: CPU_MS })),
    idle: byNodes(async () => {
      await clock.delay(CPU_MS)
      return NO_LOAD
    }),
  })

  // By processes that many lookups have made warm, theirs and those that answer: a lone caller takes seconds for it.
  const byOne = (run: typeof voted) => () => run({ connections: 1 })
  const alone = await inTurn(turns, {
    reverse: byOne(await lookups({ ...node, connections, origin: reverse })),
    certified: byOne(proxied),
    voted: byOne(voted),
    fetch: byOne(await client('fetch')),
    resolve: byOne(resolve),
  })

  const besideOf = async (target: typeof node, headers: Record<string, string>) => {
    const load = await lookups({ ...target, connections, headers })
    const pages = await loader(startPages({ ...target, headers }))
    return { load, beside: async () => (await Promise.all([load(), pages()]))[0] }
  }
  const atNode = await besideOf(node, CERTIFIED)
  const atProxy = await besideOf(proxy, BY_PROXY)
  const beside = await inTurn(turns, {
    ...{ node: atNode.load, nodePages: atNode.beside },
    ...{ proxy: atProxy.load, proxyPages: atProxy.beside },
  })
  return { many, alone, cpu, beside }
}

/** What a node answers to the first name. */
async function bodyOf(node: { readonly origin: string; readonly prefix: string }): Promise<string> {
  return (await fetch(`${node.origin}${node.prefix}/ans-entries/by-name/${nameOf(0)}`)).text()
}

function nodeUrl(cluster: RunningCluster): string {
  return cluster.urls.nodes['sv-1'] ?? ''
}

/** What a load took of the processors of these, that of its warm-up included. */
async function spent(urls: readonly string[], run: () => Promise<Load>): Promise<Spent> {
  const [seconds, startedMs] = [await cpuSeconds(urls), clock.monotonicMs()]
  const load = await run()
  const cpuMs = ((await cpuSeconds(urls)) - seconds) * 1_000
  return { cpuMs, ms: clock.monotonicMs() - startedMs, load }
}

async function cpuSeconds(urls: readonly string[]): Promise<number> {
  const seconds = urls.map(async (url) => {
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
  const rate = (side: keyof Serving['many']) =>
    round(median(all.flatMap(({ many }) => many[side].map(({ load }) => load.perSecond))))
  const micros = (side: keyof Serving['many']) =>
    round(
      median(
        all.flatMap(({ many }) => many[side].map((one) => (one.cpuMs * 1_000) / one.load.count)),
      ),
    )
  for (const [what, of] of [
    [`lookups/s, ${CONNECTIONS} connections`, rate],
    ['processor time of the server for one, µs', micros],
  ] as const)
    print(
      `${what}: bare ${of('bare')}, plain ${of('plain')}, certified ${of('certified')}, certified by the proxy ${of('proxied')}`,
    )
  const row = (what: string, of: (one: Serving) => number, budget: Row['budget']) =>
    printRow({ what, value: median(all.map(of)), budget })
  const atLeast = (value: number) => ({ kind: 'at least', value }) as const
  const atMost = (value: number) => ({ kind: 'at most', value }) as const
  const rates =
    (over: keyof Serving['many'], under: keyof Serving['many']) =>
    ({ many }: Serving) =>
      ratioOf(many[over], many[under], ({ load }) => load.perSecond)
  const p50s =
    (over: keyof Serving['alone'], under: keyof Serving['alone']) =>
    ({ alone }: Serving) =>
      ratioOf(alone[over], alone[under], ({ p50Ms }) => p50Ms)
  const p99s =
    (over: keyof Serving['beside'], under: keyof Serving['beside']) =>
    ({ beside }: Serving) =>
      ratioOf(beside[over], beside[under], ({ p99Ms }) => p99Ms)
  row('plain lookups/s of a node ÷ bare fastify', rates('plain', 'bare'), atLeast(0.45))
  row('plain lookups/s of absent names ÷ of present ones', rates('absent', 'plain'), atLeast(0.8))
  row('certified lookups/s of a node ÷ plain ones', rates('certified', 'plain'), atLeast(0.7))
  row(
    'certified lookups/s of the proxy ÷ plain ones of a node',
    rates('proxied', 'plain'),
    atLeast(0.75),
  )
  row(
    'processors of all nodes: a lookup of the SDK ÷ a voted one',
    ({ cpu }) => cpuMsOf(cpu, 'resolve') / cpuMsOf(cpu, 'voted'),
    atMost(0.4),
  )
  row(
    'one SDK caller alone: p50 of resolve ÷ of one unverified fetch',
    p50s('resolve', 'fetch'),
    atMost(2),
  )
  row(
    'one caller alone: p50 certified by the proxy ÷ plain reverse proxy',
    p50s('certified', 'reverse'),
    atMost(1),
  )
  row('one caller alone: p50 voted ÷ plain reverse proxy', p50s('voted', 'reverse'), atMost(4))
  row(
    'certified p99 of a node beside 100 pages of 1000/s ÷ alone',
    p99s('nodePages', 'node'),
    atMost(2),
  )
  row(
    'certified p99 of the proxy beside 100 pages of 1000/s ÷ alone',
    p99s('proxyPages', 'proxy'),
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

/** Of one lookup, all turns together; what the nodes take without any is taken off. */
function cpuMsOf(cpu: Serving['cpu'], side: 'resolve' | 'voted'): number {
  const sum = (slices: readonly Spent[], of: (slice: Spent) => number) =>
    slices.reduce((total, slice) => total + of(slice), 0)
  const cpuMs = (slice: Spent) => slice.cpuMs
  const ms = (slice: Spent) => slice.ms
  const idle = sum(cpu.idle, cpuMs) / sum(cpu.idle, ms)
  const slices = cpu[side]
  return (sum(slices, cpuMs) - idle * sum(slices, ms)) / sum(slices, ({ load }) => load.count)
}

function p95(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(0.95 * values.length) - 1] ?? Number.NaN
}
