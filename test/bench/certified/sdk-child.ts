/** One client process that looks names up at the nodes: with the SDK, or unverified, as whoever trusts a node does. */
import { createSystemClock } from '@quorumscan/base'
import type { Genesis } from '@quorumscan/consensus'
import { createScan } from '@quorumscan/sdk'
import { answer, childArgument } from '../child.ts'
import type { Load } from '../proxy/load-child.ts'

export type SdkArgument = {
  readonly kind: 'resolve' | 'fetch'
  readonly url: string
  readonly names: readonly string[]
  /** Lookups that wait at a time. */
  readonly concurrency: number
  readonly ms: number
  readonly genesis: Genesis
}

const WARM_UP = 0.25
const { kind, url, names, concurrency, ms, genesis } = childArgument<SdkArgument>()
const clock = createSystemClock()
const scan = createScan({ seeds: [url], genesis })

const lookups: Readonly<Record<SdkArgument['kind'], (name: string) => Promise<boolean>>> = {
  resolve: async (name) => (await scan.names.resolve(name)) !== null,
  async fetch(name) {
    const response = await fetch(`${url}/v0/ans-entries/by-name/${name}`)
    const { entry } = (await response.json()) as { entry?: { user: string } }
    return entry?.user !== undefined
  },
}
const look = lookups[kind]
const begin = clock.monotonicMs()
const start = begin + WARM_UP * ms
const end = start + ms
const times: number[] = []
let count = 0
let failureCount = 0

async function loop(first: number): Promise<void> {
  for (let index = first; ; index++) {
    const sentAt = clock.monotonicMs()
    if (sentAt >= end) return
    const isOk = await look(names[index % names.length] ?? '').catch(() => false)
    count++
    if (sentAt < start) continue
    if (isOk) times.push(clock.monotonicMs() - sentAt)
    else failureCount++
  }
}
await Promise.all(Array.from({ length: concurrency }, (_, index) => loop(index)))
await scan.close()
times.sort((a, b) => a - b)
const at = (fraction: number) => times[Math.floor(times.length * fraction)] ?? Number.NaN
const load: Load = {
  count,
  perSecond: (times.length * 1_000) / ms,
  p50Ms: at(0.5),
  p99Ms: at(0.99),
  failureCount,
}
answer(load)
