import { createSystemClock, median } from '@quorumscan/base'
import { createScan, isQuorumscanError } from '@quorumscan/sdk'
import { send, untilTrue } from '@quorumscan/testkit'
import type { Genesis } from '@quorumscan/verifier'
import type { Attack, Target } from './attack.ts'

/** A lookup takes 20 ms more, rarely 460 ms. A reader that aborts and repeats late requests would take 8 s. */
const LATENCY_MS = 1500
const LOOKUPS = 20
const AWAY_MS = 3000
const LOOKUP_EVERY_MS = 100
/**
 * Limit of the time until a reader works again after its nodes. It takes 5 to 106 ms, up to 1.0 s if connections were
 * cut, and 5 s at most (D-38). A reader that waits for a minute after each failure would take 57 s.
 */
const BACK_MS_MAX = 12_000
/** On a slow machine, the limit also allows the time of this many new readers. */
const NEW_READERS = 10
const NAME = 'dso.ns'
const clock = createSystemClock()

export const slowNodes: Attack = {
  name: 'slow-nodes',
  claim:
    'An attacker on the network path delays each answer of all scan nodes by 1.5 s, like a bad link. ' +
    'Every lookup of a new SDK client finds the name within its 10 s, and most wait for only one answer.',
  async run({ cluster }) {
    const names = Object.keys(cluster.urls.nodes)
    const genesis = await genesisOf(cluster)
    const count = LOOKUPS
    let foundCount = 0
    const extraMs: number[] = []
    try {
      await Promise.all(names.map((name) => cluster.slow(name, { latencyMs: LATENCY_MS })))
      for (let done = 0; done < count; done++) {
        await using scan = connect(cluster, genesis)
        const startedAtMs = clock.monotonicMs()
        if (await isFound(scan)) foundCount++
        extraMs.push(Math.round(clock.monotonicMs() - startedAtMs - LATENCY_MS))
      }
    } finally {
      await cluster.heal()
    }
    const usualMs = median(extraMs)
    return {
      holds: foundCount === count && usualMs < LATENCY_MS,
      figures: {
        lookups: count,
        found: foundCount,
        [`median in addition to one answer, ms (below ${LATENCY_MS})`]: usualMs,
        'slowest in addition to one answer, ms': Math.max(...extraMs),
      },
    }
  },
}

export const awayNodes: Attack = {
  name: 'nodes-away-under-load',
  claim:
    'An attacker stops all scan nodes, or cuts all connections to them, for three seconds, while readers continue. ' +
    'Readers recover: SDK and proxy find names, and the proxy pages, within 12 s after the nodes are back.',
  async run({ cluster }) {
    const names = Object.keys(cluster.urls.nodes)
    const genesis = await genesisOf(cluster)
    await using scan = connect(cluster, genesis)
    const reads = {
      proxy: async () => (await fetch(`${proxyUrl(cluster)}/by-name/${NAME}`)).ok,
      'pages of the proxy': async () => (await fetch(`${proxyUrl(cluster)}?page_size=10`)).ok,
      SDK: () => isFound(scan),
    }
    const figures: Record<string, number> = {}
    let holds = true
    const measureOutage = async (
      how: string,
      fail: (name: string) => Promise<unknown>,
      back: () => Promise<unknown>,
    ) => {
      const over = new AbortController()
      const asking = Promise.all(Object.values(reads).map((read) => keepReading(read, over.signal)))
      try {
        await Promise.all(names.map(fail))
        await clock.delay(AWAY_MS)
      } finally {
        await back()
      }
      const startedAtMs = clock.monotonicMs()
      const firstRead = (async () => {
        await using reader = connect(cluster, genesis)
        await untilTrue('a new reader to find it', () => isFound(reader))
        return Math.round(clock.monotonicMs() - startedAtMs)
      })()
      const found = Object.entries(reads).map(
        async ([who, read]) => [who, await backMs(read)] as const,
      )
      const limitMs = BACK_MS_MAX + NEW_READERS * (await firstRead)
      for (const [who, ms] of await Promise.all(found)) {
        figures[`${how}: ${who} back after, ms (at most ${limitMs})`] = ms
        holds &&= ms <= limitMs
      }
      over.abort()
      await asking
    }
    for (const [who, read] of Object.entries(reads)) await untilTrue(`the ${who} to find it`, read)
    await measureOutage(
      'stopped',
      (name) => cluster.pause(name),
      () => Promise.all(names.map((name) => cluster.resume(name))),
    )
    await measureOutage(
      'cut off',
      (name) => cluster.reset(name),
      () => cluster.heal(),
    )
    return { holds, figures }
  },
}

async function genesisOf({ urls }: Target['cluster']): Promise<Genesis> {
  return (await send(`${urls.validator}/v0/scan-proxy/genesis`)).body
}

/** Creates a client, which sends nothing yet. */
function connect({ urls }: Target['cluster'], genesis: Genesis) {
  return createScan({ seeds: Object.values(urls.nodes), genesis })
}

function proxyUrl({ urls }: Target['cluster']): string {
  return `${urls.validator}/v0/scan-proxy/ans-entries`
}

async function isFound(scan: ReturnType<typeof connect>): Promise<boolean> {
  try {
    return (await scan.names.resolve(NAME)) !== null
  } catch (error) {
    if (isQuorumscanError(error)) return false
    throw error
  }
}

/** Starts a read at each interval without waiting for the previous one, because a read may hang. */
async function keepReading(read: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
  const pending: Promise<unknown>[] = []
  while (!signal.aborted) {
    pending.push(read().catch(() => {}))
    await clock.delay(LOOKUP_EVERY_MS, signal).catch(() => {}) // Aborted: the loop ends.
  }
  await Promise.all(pending)
}

/** Time until a read succeeds, ms; infinite if it does not. */
async function backMs(read: () => Promise<boolean>): Promise<number> {
  const startedAtMs = clock.monotonicMs()
  try {
    await untilTrue('the answer', read)
  } catch {
    return Number.POSITIVE_INFINITY
  }
  return Math.round(clock.monotonicMs() - startedAtMs)
}
