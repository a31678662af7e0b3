/** Verified lookups through the scan proxy, beside what anybody could do without verifying. */
import { createSystemClock, waitFor } from '@quorumscan/base'
import { createValidatorClient } from '@quorumscan/sdk/raw'
import { type RunningCluster, startCluster } from 'quorumscan'
import { runChild, startChild } from '../child.ts'
import { median, print, printRow, round } from '../report.ts'
import type { Load, LoadArgument } from './load-child.ts'
import type { ReverseProxyArgument } from './reverse-proxy-child.ts'

export type ProxyOptions = { readonly rounds: number; readonly ms: number }

const NODES = 4
const CONNECTIONS = 64
const NAMES = Array.from({ length: 8 }, (_, index) => `bench-${index}.unverified.ns`)
const PROXY_PATH = '/v0/scan-proxy'
const REGISTRATION_MS_MAX = 60_000
const LOAD = new URL('./load-child.js', import.meta.url)
const REVERSE_PROXY = new URL('./reverse-proxy-child.js', import.meta.url)

type Round = {
  readonly direct: Load
  readonly plain: Load
  readonly verified: Load
  /** One caller alone. */
  readonly alone: { readonly plain: Load; readonly verified: Load }
  /** With the last node out, and the verified load just before. */
  readonly faults: readonly {
    readonly kind: 'killed' | 'hung'
    readonly healthy: Load
    readonly faulty: Load
  }[]
}

export async function measureProxy({ rounds, ms }: ProxyOptions): Promise<void> {
  const all: Round[] = []
  // Fresh processes in every round: one can be slow for its whole life.
  for (let each = 0; each < rounds; each++) all.push(await measureRound(ms))
  const rate = (side: 'direct' | 'plain' | 'verified') =>
    round(median(all.map((one) => one[side].perSecond)))
  print(
    `lookups/s, ${CONNECTIONS} connections: direct ${rate('direct')}, plain reverse proxy ${rate('plain')}, verified ${rate('verified')}`,
  )
  const ratio = (what: string, of: (one: Round) => number, budget: number | null) =>
    printRow({
      what,
      value: median(all.map(of)),
      budget: budget === null ? null : { kind: 'at least', value: budget },
    })
  ratio(
    'verified lookups/s ÷ plain reverse proxy',
    (r) => r.verified.perSecond / r.plain.perSecond,
    1.2,
  )
  ratio('verified lookups/s ÷ direct', (r) => r.verified.perSecond / r.direct.perSecond, 0.5)
  ratio('plain reverse proxy ÷ direct', (r) => r.plain.perSecond / r.direct.perSecond, null)
  const atMost = (what: string, of: (one: Round) => number, budget: number) =>
    printRow({ what, value: median(all.map(of)), budget: { kind: 'at most', value: budget } })
  atMost(
    'one caller alone: p50 verified ÷ plain reverse proxy',
    (r) => r.alone.verified.p50Ms / r.alone.plain.p50Ms,
    1.5,
  )
  for (const [index, kind] of (['killed', 'hung'] as const).entries()) {
    const fault = (r: Round) => r.faults[index] as Round['faults'][number]
    atMost(
      `p50 with one node ${kind} ÷ healthy`,
      (r) => fault(r).faulty.p50Ms / fault(r).healthy.p50Ms,
      1.5,
    )
    atMost(
      `p99 with one node ${kind} ÷ healthy`,
      (r) => fault(r).faulty.p99Ms / fault(r).healthy.p99Ms,
      2,
    )
  }
}

async function measureRound(ms: number): Promise<Round> {
  await using cluster = await startCluster({ nodes: NODES, basePort: 0, rateLimit: 10_000_000 })
  await registerNames(cluster)
  const node = cluster.urls.nodes['sv-1'] ?? ''
  await using proxy = startChild(REVERSE_PROXY, {
    target: node,
    connections: CONNECTIONS,
  } satisfies ReverseProxyArgument)
  const { origin } = await proxy.result<{ origin: string }>()
  const load = async (base: string, prefix: string, connections: number) => {
    const paths = NAMES.map((name) => `${prefix}/ans-entries/by-name/${name}`)
    const argument: LoadArgument = { origin: base, paths, connections, ms }
    const result = await runChild<Load>(LOAD, argument)
    if (result.failureCount > 0) throw new Error(`${result.failureCount} of the answers were bad`)
    return result
  }
  const verified = (connections: number) => load(cluster.urls.validator, PROXY_PATH, connections)

  const direct = await load(node, '/v0', CONNECTIONS)
  const plain = await load(origin, '/v0', CONNECTIONS)
  const many = await verified(CONNECTIONS)
  const alone = { plain: await load(origin, '/v0', 1), verified: await verified(1) }
  const faults: Round['faults'][number][] = []
  for (const kind of ['killed', 'hung'] as const) {
    const healthy = await verified(CONNECTIONS)
    await (kind === 'killed' ? cluster.kill('sv-4') : cluster.pause('sv-4'))
    faults.push({ kind, healthy, faulty: await verified(CONNECTIONS) })
    await (kind === 'killed' ? cluster.restart('sv-4') : cluster.resume('sv-4'))
  }
  return { direct, plain, verified: many, alone, faults }
}

async function registerNames(cluster: RunningCluster): Promise<void> {
  const baseUrl = cluster.urls.validator
  const client = createValidatorClient({ baseUrl, token: await cluster.token('bench') })
  await client.POST('/v0/register', { body: {} })
  await client.POST('/v0/wallet/tap', { body: { amount: '100.0' } })
  for (const name of NAMES) {
    const body = { name, url: '', description: 'looked up all day' }
    const created = await client.POST('/v0/entry/create', { body })
    const path = { contract_id: created.data?.subscriptionRequestCid ?? '' }
    await client.POST('/v0/wallet/subscription-requests/{contract_id}/accept', { params: { path } })
  }
  await waitFor(
    async () => {
      const url = `${baseUrl}${PROXY_PATH}/ans-entries?page_size=100&name_prefix=bench-`
      const answer = await fetch(url)
      const page = (await answer.json()) as { entries?: readonly unknown[] }
      return page.entries?.length === NAMES.length ? true : undefined
    },
    { clock: createSystemClock(), timeoutMs: REGISTRATION_MS_MAX, what: 'the names to be found' },
  )
}
