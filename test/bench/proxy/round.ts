/** One round of measurements: a cluster of fresh processes, and both sides of every ratio on it. */
import { type RunningCluster, startCluster } from 'quorumscan/testing'
import { type Child, startChild } from '../child.ts'
import type { Load } from '../load.ts'
import type { FaultyNodeArgument } from './faulty-node-child.ts'
import type { LoadArgument } from './load-child.ts'
import { nameOf, registerNames, untilFound } from './names.ts'
import type { ReverseProxyArgument } from './reverse-proxy-child.ts'
import { measureVisible } from './visible.ts'

export const CONNECTIONS = 64
/** As many as fill a page. */
export const NAME_COUNT = 1_000
const NAMES_ASKED = 8
const PAGES_PER_SECOND = 100
const PAGE_CONNECTIONS = 8
const VISIBLE_COUNT = 5
const POLL_MS = 2
export const PROXY_PATH = '/v0/scan-proxy'
const FAULTS = ['killed', 'hung', 'slow', 'lying'] as const
const LOAD = new URL('./load-child.js', import.meta.url)
const REVERSE_PROXY = new URL('./reverse-proxy-child.js', import.meta.url)
const FAULTY_NODE = new URL('./faulty-node-child.js', import.meta.url)

export type Fault = (typeof FAULTS)[number]
/** Two loads, one after the other. */
export type Pair = { readonly before: Load; readonly during: Load }
export type Round = {
  readonly direct: Load
  readonly plain: Load
  readonly verified: Load
  /** One caller alone. */
  readonly alone: { readonly plain: Load; readonly verified: Load }
  /** With the last node out, and the verified load just before. */
  readonly faults: Readonly<Record<Fault, Pair>>
  /** Beside pages, which come from the same server. */
  readonly besidePages: { readonly node: Pair; readonly proxy: Pair }
  /** Pages a second that were answered meanwhile. */
  readonly pageRates: { readonly node: number; readonly proxy: number }
  /** From the last confirmation to the verified lookup, ms. */
  readonly visibleMs: readonly number[]
}

/** A cluster without the limits that would be measured instead. */
export function startBenchCluster(nodes: number): Promise<RunningCluster> {
  return startCluster({ nodes, basePort: 0, rateLimit: 10_000_000 })
}

export async function measureRound(ms: number): Promise<Round> {
  await using cluster = await startBenchCluster(4)
  const visibleMs = await measureVisible(cluster, VISIBLE_COUNT, (name) =>
    untilFound(cluster, name, POLL_MS),
  )
  await registerNames(cluster, NAME_COUNT)
  const node = cluster.urls.nodes['sv-1'] ?? ''
  await using proxy = startReverseProxy(node)
  const { origin } = await proxy.result<{ origin: string }>()
  const plainly = (connections: number) => loadOf({ origin, prefix: '/v0', connections, ms })
  const direct = await loadOf({ origin: node, prefix: '/v0', connections: CONNECTIONS, ms })
  const plain = await plainly(CONNECTIONS)
  const many = await verified(cluster, ms)
  const alone = {
    plain: await plainly(1),
    verified: await verified(cluster, ms, { connections: 1 }),
  }
  const ofNode = await besidePages({ origin: node, prefix: '/v0', ms })
  const ofProxy = await besidePages({
    origin: cluster.urls.validator,
    prefix: PROXY_PATH,
    ms,
  })
  const faults = {
    killed: await withFault(cluster, 'killed', ms),
    hung: await withFault(cluster, 'hung', ms),
    slow: await withFault(cluster, 'slow', ms),
    lying: await withFault(cluster, 'lying', ms),
  }
  return {
    direct,
    plain,
    verified: many,
    alone,
    faults,
    besidePages: { node: ofNode.pair, proxy: ofProxy.pair },
    pageRates: { node: ofNode.pageRate, proxy: ofProxy.pageRate },
    visibleMs,
  }
}

/** Says its `origin`. */
export function startReverseProxy(target: string): Child {
  const argument: ReverseProxyArgument = { target, connections: CONNECTIONS }
  return startChild(REVERSE_PROXY, argument)
}

/** Verified lookups through the proxy. */
export function verified(
  cluster: RunningCluster,
  ms: number,
  options: Pick<LoadArgument, 'headers'> & { readonly connections?: number } = {},
): Promise<Load> {
  const { headers = {}, connections = CONNECTIONS } = options
  return loadOf({ origin: cluster.urls.validator, prefix: PROXY_PATH, connections, ms, headers })
}

/** Where lookups go. */
type Target = Pick<LoadArgument, 'headers' | 'status'> & {
  readonly origin: string
  readonly prefix: string
  /** How many names are asked for in turn; 8 without it. */
  readonly nameCount?: number
  /** Those of the data set without it. */
  readonly nameAt?: (index: number) => string
  readonly ms: number
}
type LookupLoad = Target & Pick<LoadArgument, 'connections'>

/** By-name lookups. */
export async function loadOf(options: LookupLoad): Promise<Load> {
  await using child = startLookups(options)
  return checked(await child.result<Load>())
}

/** A process that gives a `Load` of by-name lookups, and another one whenever it is wanted. */
export function startLookups(options: LookupLoad): Child {
  const { prefix, nameCount = NAMES_ASKED, nameAt = nameOf, ...argument } = options
  const paths = Array.from(
    { length: nameCount },
    (_, index) => `${prefix}/ans-entries/by-name/${nameAt(index)}`,
  )
  return startChild(LOAD, { ...argument, paths } satisfies LoadArgument)
}

/** The same of pages of all names, 100 a second. */
export function startPages(options: Pick<Target, 'origin' | 'prefix' | 'headers' | 'ms'>): Child {
  return startChild(LOAD, {
    origin: options.origin,
    headers: options.headers ?? {},
    paths: [`${options.prefix}/ans-entries?page_size=${NAME_COUNT}`],
    connections: PAGE_CONNECTIONS,
    perSecond: PAGES_PER_SECOND,
    ms: options.ms,
  } satisfies LoadArgument)
}

/** What was refused is no answer, and would be quick. */
export function checked(load: Load): Load {
  const { failureCount, firstFailure } = load
  if (failureCount > 0) throw new Error(`${failureCount} of the answers were bad: ${firstFailure}`)
  return load
}

/** Lookups beside pages of all names, and alone before. */
async function besidePages(options: Target): Promise<{ pair: Pair; pageRate: number }> {
  const lookups = { ...options, connections: CONNECTIONS }
  const before = await loadOf(lookups)
  // As long as the lookups with the start of their process, and some more.
  await using pages = startPages({ ...options, ms: 2 * options.ms })
  const during = await loadOf(lookups)
  return { pair: { before, during }, pageRate: checked(await pages.result<Load>()).perSecond }
}

async function withFault(cluster: RunningCluster, fault: Fault, ms: number): Promise<Pair> {
  const name = 'sv-4'
  const before = await verified(cluster, ms)
  const during = () => verified(cluster, ms)
  if (fault === 'hung') {
    await cluster.pause(name)
    const pair = { before, during: await during() }
    await cluster.resume(name)
    return pair
  }
  await cluster.kill(name)
  const pair = { before, during: fault === 'killed' ? await during() : await replaced(fault) }
  await cluster.restart(name)
  return pair

  async function replaced(kind: 'slow' | 'lying'): Promise<Load> {
    await using child = startChild(FAULTY_NODE, {
      port: Number(new URL(cluster.urls.nodes[name] ?? '').port),
      target: cluster.urls.nodes['sv-1'] ?? '',
      fault: kind,
    } satisfies FaultyNodeArgument)
    await child.result()
    return await during()
  }
}
