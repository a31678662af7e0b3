import { createSystemClock } from '@quorumscan/base'
import { createScan, isQuorumscanError } from '@quorumscan/sdk'
import { send, untilTrue } from '@quorumscan/testkit'
import type { Genesis } from '@quorumscan/verifier'
import { median } from '../bench/report.ts'
import type { Attack, Target } from './attack.ts'

/** A lookup takes 20 ms more than this, seldom 460 ms. A reader that ends late requests and asks again takes 8 s. */
const LATENCY_MS = 1500
const LOOKUPS = 3
const LOOKUPS_LONG = 20
const AWAY_MS = 3000
const ASK_MS = 100
/**
 * A reader is back within so long of its nodes: it takes 5 to 106 ms, up to 1.0 s where connections were cut, and 5 s
 * at most (D-38). One that waits for a minute after each failure takes 57 s. …
 */
const BACK_MS_MAX = 12_000
/** … and what so many readers need that begin then, one after the other: a tenth of it, unless the machine is slow. */
const NEW_READERS = 10
const NAME = 'dso.ns'
const clock = createSystemClock()

export const slowNodes: Attack = {
  name: 'slow-nodes',
  claim:
    'A party on the way to the scan nodes delays each answer of all of them by 1.5 s, as a bad link does. ' +
    'Every lookup of an SDK that just started finds the name within its 10 s, and most wait for one answer and no second one.',
  async run({ cluster, isLong }) {
    const names = Object.keys(cluster.urls.nodes)
    const genesis = await genesisOf(cluster)
    const count = isLong ? LOOKUPS_LONG : LOOKUPS
    let foundCount = 0
    const besideMs: number[] = []
    try {
      await Promise.all(names.map((name) => cluster.slow(name, { latencyMs: LATENCY_MS })))
      for (let asked = 0; asked < count; asked++) {
        await using scan = connect(cluster, genesis)
        const startedAtMs = clock.monotonicMs()
        if (await isFound(scan)) foundCount++
        besideMs.push(Math.round(clock.monotonicMs() - startedAtMs - LATENCY_MS))
      }
    } finally {
      await cluster.heal()
    }
    const usualMs = median(besideMs)
    return {
      holds: foundCount === count && usualMs < LATENCY_MS,
      figures: {
        lookups: count,
        found: foundCount,
        [`median in addition to one answer, ms (below ${LATENCY_MS})`]: usualMs,
        'slowest in addition to one answer, ms': Math.max(...besideMs),
      },
    }
  },
}

export const awayNodes: Attack = {
  name: 'nodes-away-under-load',
  claim:
    'A party stops all scan nodes, or cuts all connections to them, for three seconds, while readers continue to ask. ' +
    'It stops those readers for no longer: SDK and proxy find names, and the proxy pages, again within 12 s of the nodes.',
  async run({ cluster }) {
    const names = Object.keys(cluster.urls.nodes)
    const genesis = await genesisOf(cluster)
    await using scan = connect(cluster, genesis)
    const asks = {
      proxy: async () => (await fetch(`${proxyUrl(cluster)}/by-name/${NAME}`)).ok,
      'pages of the proxy': async () => (await fetch(`${proxyUrl(cluster)}?page_size=10`)).ok,
      SDK: () => isFound(scan),
    }
    const figures: Record<string, number> = {}
    let holds = true
    const awayFor = async (
      how: string,
      leave: (name: string) => Promise<unknown>,
      back: () => Promise<unknown>,
    ) => {
      const over = new AbortController()
      const asking = Promise.all(Object.values(asks).map((ask) => keepAsking(ask, over.signal)))
      try {
        await Promise.all(names.map(leave))
        await clock.delay(AWAY_MS)
      } finally {
        await back()
      }
      const startedAtMs = clock.monotonicMs()
      const beginning = (async () => {
        await using reader = connect(cluster, genesis)
        await untilTrue('a new reader to find it', () => isFound(reader))
        return Math.round(clock.monotonicMs() - startedAtMs)
      })()
      const found = Object.entries(asks).map(
        async ([who, ask]) => [who, await backMs(ask)] as const,
      )
      const limitMs = BACK_MS_MAX + NEW_READERS * (await beginning)
      for (const [who, ms] of await Promise.all(found)) {
        figures[`${how}: ${who} back after, ms (at most ${limitMs})`] = ms
        holds &&= ms <= limitMs
      }
      over.abort()
      await asking
    }
    for (const [who, ask] of Object.entries(asks)) await untilTrue(`the ${who} to find it`, ask)
    await awayFor(
      'stopped',
      (name) => cluster.pause(name),
      () => Promise.all(names.map((name) => cluster.resume(name))),
    )
    await awayFor(
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

/** Nothing is sent yet. */
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

/** Without waiting for answers, which a reader could be waiting for. */
async function keepAsking(ask: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
  const asked: Promise<unknown>[] = []
  while (!signal.aborted) {
    asked.push(ask().catch(() => {}))
    await clock.delay(ASK_MS, signal).catch(() => {}) // Over: the loop ends.
  }
  await Promise.all(asked)
}

/** How long it takes until a question finds what it asks for, ms; for ever, if it does not. */
async function backMs(ask: () => Promise<boolean>): Promise<number> {
  const startedAtMs = clock.monotonicMs()
  try {
    await untilTrue('the answer', ask)
  } catch {
    return Number.POSITIVE_INFINITY
  }
  return Math.round(clock.monotonicMs() - startedAtMs)
}
