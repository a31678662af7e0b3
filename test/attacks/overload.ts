import { createSystemClock, median } from '@quorumscan/base'
import { runChild } from '../support/child.ts'
import type { Attack } from './attack.ts'
import type { OpenLoop, OpenLoopArgument } from './open-loop.ts'

const OPEN_LOOP = 'attacks/open-loop-child'
const TIMES = 10
/**
 * Minimum goodput relative to the peak, by the clock or by processor time. The crowd uses most of the same processors.
 */
const GOODPUT_MIN = 0.7
/** Minimum of both of them. */
const LEAST_MIN = 0.4
const MEASURED_MS = 3_000
/** The time that a proxy waits for a node. */
const PATIENCE_MS = 2_000
const ROUNDS = 3
/** Connections with which a process reaches its peak. */
const PEAK_CONNECTIONS = 256
const PROBE_EVERY_MS = 100
/**
 * Limit of the answers to a large crowd while a newcomer waits, divided by the size of the crowd. It is 7 to 16 without
 * the admission queue, and 0.04 to 0.1 with it, because the client reads many answers at once. A limit of time would
 * depend on the machine.
 */
const BEFORE_NEWCOMER_MAX = 1.5
const clock = createSystemClock()

/** Crowds on the maximum connections of one address, or on some of each of many addresses. */
const crowds = [
  { who: 'one address', addresses: 1, connections: 512 },
  { who: '64 addresses', addresses: 64, connections: 4096 },
] as const

/** A process under far more load than it can serve keeps its goodput, and answers health probes. */
export const overload: Attack = {
  name: 'overload',
  needsOwnCluster: true,
  claim:
    `A crowd, from one address or many, sends a node and the proxy ${TIMES} times the requests that they can answer, ` +
    `without pause. At least ${GOODPUT_MIN} of their peak, by the clock or by their processor time, is still ` +
    'answered in time, every other reply is 429 or 503 with retry-after, and health endpoints answer newcomers ' +
    'before most of the crowd are answered a second time.',
  async run(target) {
    const { urls } = target.cluster
    const figures: Record<string, number | string> = {}
    const { nodes, validator } = await target.cluster.status()
    const of = (what: string, url: string, prefix: string, pid: number | null | undefined) => {
      if (pid == null) throw new Error(`the ${what} does not run`)
      const path = `${prefix}/ans-entries/by-name/dso.ns`
      return flood({ what, url, path, pid }, figures)
    }
    const node = nodes.find(({ name }) => name === 'sv-1')
    const holds = [
      await of('node', urls.nodes['sv-1'] ?? '', '/v0', node?.pid),
      await of('proxy', urls.validator, '/v0/scan-proxy', validator.pid),
    ]
    return { holds: holds.every(Boolean), figures }
  },
}

type Flooded = {
  readonly what: string
  readonly url: string
  readonly path: string
  readonly pid: number
}

/** Whether the claim holds. Adds its measurements to the figures. */
async function flood(
  { what, url, path, pid }: Flooded,
  figures: Record<string, number | string>,
): Promise<boolean> {
  let slowestMs = 0
  // Newcomers and probes also run at the peak, so that both sides of the ratio include their cost.
  const run = async (input: Pick<OpenLoopArgument, 'addresses' | 'connections' | 'perSecond'>) => {
    const over = new AbortController()
    const probing = probe(url, over.signal)
    const load = await runChild<OpenLoop>(OPEN_LOOP, {
      url,
      path,
      pid,
      ms: MEASURED_MS,
      patienceMs: PATIENCE_MS,
      ...input,
    } satisfies OpenLoopArgument).finally(() => over.abort())
    slowestMs = Math.max(slowestMs, await probing)
    return load
  }
  const own = { addresses: ['127.0.0.1'], connections: PEAK_CONNECTIONS, perSecond: null }
  const measurePeak = async () => {
    const peak = await run(own)
    if (peak.goodPerSecond === 0)
      throw new Error(`the ${what} answered nothing at its peak: the machine is not quiet`)
    return peak
  }
  await run(own) // Warm-up: code is compiled.
  let holds = true
  for (const { who, addresses, connections: crowd } of crowds) {
    // Measured before, between and after the crowds, so that other work on the machine slows both sides of the ratio.
    const peaks = [await measurePeak()]
    const loads: OpenLoop[] = []
    slowestMs = 0
    while (loads.length < ROUNDS) {
      const load = await run({
        addresses: Array.from({ length: addresses }, (_, index) => `127.0.1.${index + 1}`),
        connections: crowd,
        perSecond: TIMES * Math.max(...peaks.map(({ goodPerSecond }) => goodPerSecond)),
      })
      loads.push(load)
      peaks.push(await measurePeak())
    }
    const ratio = (of: (figures: OpenLoop) => number) =>
      median(loads.map(of)) / median(peaks.map(of))
    const share = ratio(({ goodPerCpuSecond }) => goodPerCpuSecond)
    const wallShare = ratio(({ goodPerSecond }) => goodPerSecond)
    const before = median(loads.map(({ beforeNewcomer }) => beforeNewcomer))
    const bad = loads.map((load) => load.bad).find((text) => text !== '')
    holds &&=
      Math.max(share, wallShare) >= GOODPUT_MIN &&
      Math.min(share, wallShare) >= LEAST_MIN &&
      bad === undefined &&
      // All of a small crowd fits into the admission queue, but only a part of a large one.
      (addresses === 1 || before <= BEFORE_NEWCOMER_MAX * crowd) &&
      Number.isFinite(slowestMs)
    figures[`${what}, ${who}: answers/s at the peak`] = Math.round(
      median(peaks.map(({ goodPerSecond }) => goodPerSecond)),
    )
    figures[
      `${what}, ${who}: answered ÷ peak, by processor time (one of them at least ${GOODPUT_MIN})`
    ] = share.toFixed(2)
    figures[`${what}, ${who}: answered ÷ peak, by the clock`] = wallShare.toFixed(2)
    figures[`${what}, ${who}: refused/s`] = Math.round(
      median(loads.map(({ refusedPerSecond }) => refusedPerSecond)),
    )
    figures[`${what}, ${who}: answered before a newcomer`] = `${before} of ${crowd}`
    figures[`${what}, ${who}: neither`] = bad ?? 'none'
    figures[`${what}, ${who}: slowest probe, ms`] = Math.round(slowestMs)
  }
  return holds
}

/** The longest time of a probe on a new connection; infinite if an answer is not 200. */
async function probe(url: string, signal: AbortSignal): Promise<number> {
  let slowestMs = 0
  while (!signal.aborted) {
    for (const path of ['/livez', '/readyz']) {
      const startedMs = clock.monotonicMs()
      const { status } = await fetch(url + path, { headers: { connection: 'close' } })
      const tookMs = status === 200 ? clock.monotonicMs() - startedMs : Number.POSITIVE_INFINITY
      slowestMs = Math.max(slowestMs, tookMs)
    }
    await clock.delay(PROBE_EVERY_MS, signal).catch(() => {}) // Aborted: the loop ends.
  }
  return slowestMs
}
