import { createSystemClock } from '@quorumscan/base'
import type { Genesis } from '@quorumscan/consensus'
import { createScan, isQuorumscanError } from '@quorumscan/sdk'
import { send } from '@quorumscan/testkit'
import type { Attack, Target } from './attack.ts'

const LATENCY_MS = 1500
const LOOKUPS = 3
const LOOKUPS_LONG = 20
const AWAY_MS = 3000
const ASK_MS = 100
/** A reader is back within so long of its nodes. */
const BACK_MS_MAX = 5000
const NAME = 'dso.ns'
const clock = createSystemClock()

export const slowNodes: Attack = {
  name: 'slow-nodes',
  claim:
    'Whoever sits on the way to the scan nodes makes each answer of all of them 1.5 s late, as a bad link does. ' +
    'Every lookup of an SDK that just started finds the name within its 10 s.',
  async run({ cluster, isLong }) {
    const names = Object.keys(cluster.urls.nodes)
    const count = isLong ? LOOKUPS_LONG : LOOKUPS
    let foundCount = 0
    const tookMs: number[] = []
    try {
      await Promise.all(names.map((name) => cluster.slow(name, { latencyMs: LATENCY_MS })))
      for (let asked = 0; asked < count; asked++) {
        await using scan = await connect(cluster)
        const startedAtMs = clock.monotonicMs()
        if (await isFound(scan)) foundCount++
        tookMs.push(Math.round(clock.monotonicMs() - startedAtMs))
      }
    } finally {
      await cluster.heal()
    }
    return {
      holds: foundCount === count,
      figures: { lookups: count, found: foundCount, 'slowest, ms': Math.max(...tookMs) },
    }
  },
}

export const awayNodes: Attack = {
  name: 'nodes-away-under-load',
  claim:
    'Whoever can stop all scan nodes for three seconds, while readers go on asking, stops those readers for no longer: ' +
    'SDK and proxy find names again within 5 s of the nodes.',
  async run({ cluster }) {
    const names = Object.keys(cluster.urls.nodes)
    await using scan = await connect(cluster)
    const askProxy = async () => (await fetch(proxyUrl(cluster))).ok
    const askSdk = () => isFound(scan)
    const wereUp = (await askProxy()) && (await askSdk())
    const over = new AbortController()
    const asking = Promise.all([keepAsking(askProxy, over.signal), keepAsking(askSdk, over.signal)])
    try {
      await Promise.all(names.map((name) => cluster.pause(name)))
      await clock.delay(AWAY_MS)
    } finally {
      await Promise.all(names.map((name) => cluster.resume(name)))
    }
    const backMs = await Promise.all([untilFound(askProxy), untilFound(askSdk)])
    over.abort()
    await asking
    const [proxyMs, sdkMs] = backMs as [number, number]
    return {
      holds: wereUp && Math.max(...backMs) <= BACK_MS_MAX,
      figures: { 'proxy back after, ms': proxyMs, 'SDK back after, ms': sdkMs },
    }
  },
}

async function connect(cluster: Target['cluster']) {
  const seeds = Object.values(cluster.urls.nodes)
  const genesis = (await send(`${seeds[0]}/v0/genesis`)).body as Genesis
  return createScan({ seeds, genesis })
}

function proxyUrl({ urls }: Target['cluster']): string {
  return `${urls.validator}/v0/scan-proxy/ans-entries/by-name/${NAME}`
}

async function isFound(scan: Awaited<ReturnType<typeof connect>>): Promise<boolean> {
  try {
    return (await scan.names.resolve(NAME)) !== null
  } catch (error) {
    if (isQuorumscanError(error)) return false
    throw error
  }
}

/** Without waiting for answers, which a reader could be waiting for. */
async function keepAsking(ask: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
  const asked: Promise<unknown>[] = []
  while (!signal.aborted) {
    asked.push(ask().catch(() => {}))
    await clock.delay(ASK_MS, signal).catch(() => {}) // Over: the loop ends.
  }
  await Promise.all(asked)
}

/** How long it takes until a question that is asked then finds the name, ms; twice what it may, if it does not. */
async function untilFound(ask: () => Promise<boolean>): Promise<number> {
  const startedAtMs = clock.monotonicMs()
  const passedMs = () => Math.round(clock.monotonicMs() - startedAtMs)
  while (passedMs() < 2 * BACK_MS_MAX) {
    if (await ask()) return passedMs()
    await clock.delay(ASK_MS)
  }
  return passedMs()
}
