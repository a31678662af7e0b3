/** Clusters for measurements of lookups, and the processes that send the lookups. */
import { createSystemClock, type Resources } from '@quorumscan/base'
import { type RunningCluster, startCluster } from 'quorumscan/testing'
import { type Child, startChild } from '../support/child.ts'
import type { Load } from '../support/load.ts'
import type { LoadArgument } from '../support/load-child.ts'
import { nameOf } from './proxy/names.ts'
import type { ReverseProxyArgument } from './proxy/reverse-proxy-child.ts'

export const CONNECTIONS = 64
/** The names of a full page. */
export const NAME_COUNT = 1_000
export const PROXY_PATH = '/v0/scan-proxy'
const NAMES_USED = 8
const PAGES_PER_SECOND = 100
const PAGE_CONNECTIONS = 8
const LOAD = 'support/load-child'
const REVERSE_PROXY = 'bench/proxy/reverse-proxy-child'
const clock = createSystemClock()

/** A cluster with rate limits that measurements do not reach. */
export function startBenchCluster(nodes: number): Promise<RunningCluster> {
  return startCluster({ nodes, basePort: 0, rateLimit: 10_000_000 })
}

export function nodeUrl(cluster: Pick<RunningCluster, 'urls'>, name = 'sv-1'): string {
  return cluster.urls.nodes[name] ?? ''
}

/** Starts a reverse proxy, whose result has its `origin`. */
export function startReverseProxy(target: string): Child {
  const argument: ReverseProxyArgument = { target, connections: CONNECTIONS }
  return startChild(REVERSE_PROXY, argument)
}

/** The server and paths of lookups. */
export type Target = Pick<LoadArgument, 'headers' | 'status' | 'ms'> & {
  readonly origin: string
  readonly prefix: string
  /** Number of names that are looked up in turn. Default: 8. */
  readonly nameCount?: number
  /** Default: the names of the data set. */
  readonly nameAt?: (index: number) => string
}

/** Measures one slice with a running process. */
export type Loader = (change?: Partial<Pick<LoadArgument, 'connections' | 'ms'>>) => Promise<Load>

/** Warms a measuring process up with one slice, and returns its loader. */
export async function loaderOf(resources: Resources, child: Child): Promise<Loader> {
  checked(await resources.opened(child).result<Load>())
  return async (change = {}) => checked(await child.again<Load>(change))
}

/** Looks names up over `CONNECTIONS` connections. */
export function lookupsOf(resources: Resources, target: Target): Promise<Loader> {
  const { prefix, nameCount = NAMES_USED, nameAt = nameOf, ...argument } = target
  const paths = Array.from(
    { length: nameCount },
    (_, index) => `${prefix}/ans-entries/by-name/${nameAt(index)}`,
  )
  const options: LoadArgument = { ...argument, connections: CONNECTIONS, paths }
  return loaderOf(resources, startChild(LOAD, options))
}

/** Reads 100 pages of all names per second. */
function pagesOf(resources: Resources, target: Target): Promise<Loader> {
  const options: LoadArgument = {
    origin: target.origin,
    headers: target.headers ?? {},
    paths: [`${target.prefix}/ans-entries?page_size=${NAME_COUNT}`],
    connections: PAGE_CONNECTIONS,
    perSecond: PAGES_PER_SECOND,
    ms: target.ms,
  }
  return loaderOf(resources, startChild(LOAD, options))
}

/** Lookups without and with concurrent pages from the same server. */
export async function nextToPages(resources: Resources, target: Target) {
  const [alone, pages] = await Promise.all([
    lookupsOf(resources, target),
    pagesOf(resources, target),
  ])
  return {
    alone: async () => ({ ...(await alone()), pagesPerSecond: 0 }),
    together: async () => {
      const [load, { perSecond }] = await Promise.all([alone(), pages()])
      return { ...load, pagesPerSecond: perSecond }
    },
  }
}

/** @throws {Error} If an answer failed, because refusals would count as fast answers. */
export function checked(load: Load): Load {
  const { failureCount, firstFailure } = load
  if (failureCount > 0) throw new Error(`${failureCount} of the answers were bad: ${firstFailure}`)
  return load
}

/** Processor time of servers, and the load that they served with it. */
export type Spent = { readonly cpuMs: number; readonly ms: number; readonly load: Load }

/** Adds the processor time of the servers at these URLs, including the warm-up. */
export function spentBy(urls: readonly string[], run: () => Promise<Load>): () => Promise<Spent> {
  return async () => {
    const [seconds, startedMs] = [await cpuSeconds(urls), clock.monotonicMs()]
    const load = await run()
    const cpuMs = ((await cpuSeconds(urls)) - seconds) * 1_000
    return { cpuMs, ms: clock.monotonicMs() - startedMs, load }
  }
}

/** Processor time of the servers per answer, µs. */
export function cpuMicrosOf({ cpuMs, load }: Spent): number {
  return (cpuMs * 1_000) / load.count
}

async function cpuSeconds(urls: readonly string[]): Promise<number> {
  const seconds = urls.map(async (url) => {
    const text = await (await fetch(`${url}/metrics`)).text()
    return Number(/^process_cpu_seconds_total (\S+)/m.exec(text)?.[1])
  })
  return (await Promise.all(seconds)).reduce((sum, each) => sum + each, 0)
}
