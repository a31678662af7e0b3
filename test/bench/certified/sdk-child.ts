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

/** The party that the name belongs to. */
const lookups: Readonly<Record<SdkArgument['kind'], (name: string) => Promise<unknown>>> = {
  resolve: (name) => scan.names.resolve(name),
  async fetch(name) {
    const response = await fetch(`${url}/v0/ans-entries/by-name/${name}`)
    const { entry } = (await response.json()) as { entry?: { user: string } }
    return entry?.user
  },
}
const look = lookups[kind]
const begin = clock.monotonicMs()
const start = begin + WARM_UP * ms
const end = start + ms
const times: number[] = []
let count = 0
let failureCount = 0
let firstFailure: string | null = null

async function loop(first: number): Promise<void> {
  for (let index = first; ; index++) {
    const sentAt = clock.monotonicMs()
    if (sentAt >= end) return
    const found = await look(names[index % names.length] ?? '').catch(String)
    count++
    if (sentAt < start) continue
    if (String(found).includes('::1220')) times.push(clock.monotonicMs() - sentAt)
    else {
      failureCount++
      firstFailure ??= String(found)
    }
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
  firstFailure,
}
answer(load)
