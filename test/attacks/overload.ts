import { createSystemClock } from '@quorumscan/base'
import { runChild } from '../bench/child.ts'
import { median } from '../bench/report.ts'
import type { Attack } from './attack.ts'
import type { OpenLoop, OpenLoopArgument } from './open-loop.ts'

const OPEN_LOOP = new URL('./open-loop-child.js', import.meta.url)
const TIMES = 10
/**
 * By the clock or by processor time: the crowd runs on the same processors, and to ask ten times as much takes most of
 * them.
 */
const GOODPUT_MIN = 0.7
/** Neither of the two may be below it. */
const LEAST_MIN = 0.4
const MEASURED_MS = 3_000
/** As long as a proxy waits for a node. */
const PATIENCE_MS = 2_000
const ROUNDS = 3
/** With them a process is kept busy and answers most. */
const PEAK_CONNECTIONS = 256
const PROBE_EVERY_MS = 100
/**
 * Answers to a large crowd, divided by its size, while a newcomer waits. Without the admission queue it is two and more
 * (7 and 16 were counted), with it 0.04 to 0.1, because the client reads many answers at once. A probe waits as long.
 * It is not a limit of time, which would depend on the machine.
 */
const BEFORE_NEWCOMER_MAX = 1.5
const clock = createSystemClock()

/** The connections of the crowd, by its addresses: all that one of them has, or some of each. */
const crowds = [
  { who: 'one address', addresses: 1, connections: 512 },
  { who: '64 addresses', addresses: 64, connections: 4096 },
] as const

/** A crowd that asks for far more than the process can serve gets what it can, and no probe takes it for dead. */
export const overload: Attack = {
  name: 'overload',
  needsQuietMachine: true,
  claim:
    `A crowd, from one address or many, asks a node and the proxy for ${TIMES} times what they can answer, whatever comes ` +
    `back. At least ${GOODPUT_MIN} of the most that they answer, by the clock or by their processor time, is still ` +
    'answered in time, every other reply is 429 or 503 with retry-after, and health endpoints answer, ' +
    'to newcomers before most of the crowd are answered a second time.',
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

/** Whether it holds; what was measured goes to the figures. */
async function flood(
  { what, url, path, pid }: Flooded,
  figures: Record<string, number | string>,
): Promise<boolean> {
  let slowestMs = 0
  // Newcomers and probes come at the peak, too: their cost is the same in both.
  const ask = async (input: Pick<OpenLoopArgument, 'addresses' | 'connections' | 'perSecond'>) => {
    const over = new AbortController()
    const probing = probe(url, over.signal)
    const load = await runChild<OpenLoop>(OPEN_LOOP, {
      ...{ url, path, pid, ms: MEASURED_MS, patienceMs: PATIENCE_MS },
      ...input,
    } satisfies OpenLoopArgument).finally(() => over.abort())
    slowestMs = Math.max(slowestMs, await probing)
    return load
  }
  const own = { addresses: ['127.0.0.1'], connections: PEAK_CONNECTIONS, perSecond: null }
  const askAtPeak = async () => {
    const peak = await ask(own)
    if (peak.goodPerSecond === 0)
      throw new Error(`the ${what} answered nothing at its peak: the machine is not quiet`)
    return peak
  }
  await ask(own) // Its code is compiled.
  let holds = true
  for (const { who, addresses, connections: crowd } of crowds) {
    // Before, between and after the crowds, so that whatever else the machine does slows both sides of the ratio.
    const peaks = [await askAtPeak()]
    const loads: OpenLoop[] = []
    slowestMs = 0
    while (loads.length < ROUNDS) {
      const load = await ask({
        addresses: Array.from({ length: addresses }, (_, index) => `127.0.1.${index + 1}`),
        connections: crowd,
        perSecond: TIMES * Math.max(...peaks.map(({ goodPerSecond }) => goodPerSecond)),
      })
      loads.push(load)
      peaks.push(await askAtPeak())
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
      // A small crowd stands in line as a whole, of a large one only a part does.
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

/** The longest that a probe took, each on a connection of its own; for ever, if it was no 200. */
async function probe(url: string, signal: AbortSignal): Promise<number> {
  let slowestMs = 0
  while (!signal.aborted) {
    for (const path of ['/livez', '/readyz']) {
      const startedMs = clock.monotonicMs()
      const { status } = await fetch(url + path, { headers: { connection: 'close' } })
      const tookMs = status === 200 ? clock.monotonicMs() - startedMs : Number.POSITIVE_INFINITY
      slowestMs = Math.max(slowestMs, tookMs)
    }
    await clock.delay(PROBE_EVERY_MS, signal).catch(() => {}) // Over: the loop ends.
  }
  return slowestMs
}
