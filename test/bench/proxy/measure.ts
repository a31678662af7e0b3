/** Compares verified lookups through the scan proxy with direct lookups and those through a plain reverse proxy. */
import { median, Resources } from '@quorumscan/base'
import type { RunningCluster } from 'quorumscan/testing'
import type { Load } from '../../support/load.ts'
import {
  CONNECTIONS,
  cpuMicrosOf,
  lookupsOf,
  nextToPages,
  nodeUrl,
  PROXY_PATH,
  type Spent,
  spentBy,
  startBenchCluster,
  startReverseProxy,
} from '../lookups.ts'
import { atLeast, atMost, type Budget, print, printRow, round } from '../report.ts'
import { inTurn, ratiosOf, type Turns } from '../turns.ts'
import { type ClientOptions, measureClients } from './clients.ts'
import { FAULTS, type Fault, measureFault } from './faults.ts'
import { registerNames, untilFound } from './names.ts'
import { measureVisible } from './visible.ts'

export type ProxyOptions = ClientOptions & {
  /** Turns that kill and restart a node. */
  readonly faultTurns: number
  readonly nameCount: number
  /** Names of which the time to a lookup is measured. */
  readonly visibleCount: number
}

const POLL_MS = 2
/** f + 1 of four nodes. */
const VOTES_NEEDED = 2
const TITLES: Readonly<Record<Fault, string>> = {
  killed: 'killed',
  hung: 'hung',
  slow: 'slow by 300 ms',
  lying: 'lying',
}
const perSecond = ({ load }: Spent) => load.perSecond
const p50 = ({ p50Ms }: Load) => p50Ms
const p99 = ({ p99Ms }: Load) => p99Ms

export async function measureProxy(options: ProxyOptions): Promise<void> {
  await using cluster = await startBenchCluster(4)
  const visibleMs = await measureVisible(cluster, options.visibleCount, (name) =>
    untilFound(cluster, name, POLL_MS),
  )
  row('last confirmation to verified lookup, idle, ms', visibleMs, atMost(150))
  await registerNames(cluster, options.nameCount)
  await measureLookups(cluster, options)
  await measureClients(cluster, options)
}

async function measureLookups(
  cluster: RunningCluster,
  { turns, warmUpTurns, faultTurns, ms }: ProxyOptions,
): Promise<void> {
  await using children = new Resources()
  const node = { origin: nodeUrl(cluster), prefix: '/v0', ms }
  const proxy = { ...node, origin: cluster.urls.validator, prefix: PROXY_PATH }
  const reverse = children.opened(startReverseProxy(node.origin))
  const { origin } = await reverse.result<{ origin: string }>()
  const [direct, plain, verified] = await Promise.all([
    lookupsOf(children, node),
    lookupsOf(children, { ...node, origin }),
    lookupsOf(children, proxy),
  ])
  const nodes = Object.values(cluster.urls.nodes)

  printRates(
    await inTurn(
      turns,
      {
        direct: spentBy([node.origin], direct),
        plain: spentBy([node.origin], plain),
        verified: spentBy([proxy.origin, ...nodes], verified),
        ofNodes: spentBy(nodes, verified),
      },
      warmUpTurns,
    ),
  )
  const alone = await inTurn(turns, {
    plain: () => plain({ connections: 1 }),
    verified: () => verified({ connections: 1 }),
  })
  row(
    'one caller alone: p50 verified ÷ plain reverse proxy',
    ratiosOf(alone.verified, alone.plain, p50),
    atMost(4),
  )
  for (const fault of FAULTS) {
    const { healthy, faulty } = await measureFault(cluster, fault, { verified, turns: faultTurns })
    const what = `with one node ${TITLES[fault]} ÷ healthy`
    row(`p50 ${what}`, ratiosOf(faulty, healthy, p50), atMost(1.5))
    row(`p99 ${what}`, ratiosOf(faulty, healthy, p99), atMost(2))
  }
  const [atNode, atProxy] = await Promise.all([
    nextToPages(children, node),
    nextToPages(children, proxy),
  ])
  const pages = await inTurn(turns, {
    node: atNode.alone,
    nodePages: atNode.together,
    proxy: atProxy.alone,
    proxyPages: atProxy.together,
  })
  for (const { alone, together, title, max } of [
    { alone: pages.node, together: pages.nodePages, title: 'lookup p99 of a node', max: 2 },
    { alone: pages.proxy, together: pages.proxyPages, title: 'verified lookup p99', max: 8 },
  ]) {
    row(`${title} next to 100 pages of 1000/s ÷ alone`, ratiosOf(together, alone, p99), atMost(max))
    row(
      'pages a second meanwhile',
      together.map(({ pagesPerSecond }) => pagesPerSecond),
    )
  }
}

function printRates({
  direct,
  plain,
  verified,
  ofNodes,
}: Turns<'direct' | 'plain' | 'verified' | 'ofNodes', Spent>): void {
  const rate = (slices: readonly Spent[]) => round(median(slices.map(perSecond)))
  print(
    `lookups/s, ${CONNECTIONS} connections: direct ${rate(direct)}, plain reverse proxy ${rate(plain)}, verified ${rate(verified)}`,
  )
  row(
    'verified lookups/s ÷ plain reverse proxy',
    ratiosOf(verified, plain, perSecond),
    atLeast(0.6),
  )
  row('verified lookups/s ÷ direct', ratiosOf(verified, direct, perSecond), atLeast(0.25))
  row('plain reverse proxy ÷ direct', ratiosOf(plain, direct, perSecond))
  row('processor time of the node for a direct lookup, µs', direct.map(cpuMicrosOf))
  row('processor time of proxy and nodes for a verified one, µs', verified.map(cpuMicrosOf))
  row(
    'processor time of all nodes for a verified lookup ÷ f + 1 direct ones',
    ratiosOf(ofNodes, direct, cpuMicrosOf).map((ratio) => ratio / VOTES_NEEDED),
    atMost(0.55),
  )
}

function row(what: string, values: readonly number[], budget: Budget | null = null): void {
  printRow({ what, values, budget })
}
