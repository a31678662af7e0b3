/** A client process that reads from several nodes, with our reader or another client. */
import { createSystemClock } from '@quorumscan/base'
import { isDecided } from '@quorumscan/reader'
import { createReader } from '@quorumscan/reader/voted'
import { createUndiciTransport } from '@quorumscan/runtime'
import { type Genesis, hashGenesis } from '@quorumscan/verifier'
import { FallbackProvider, JsonRpcProvider, Network } from 'ethers'
import { again, childArgument } from '../../support/child.ts'
import type { Load } from '../../support/load.ts'

export type ClientArgument = {
  readonly kind: 'reader' | 'fetch' | 'ethers'
  readonly urls: readonly string[]
  readonly names: readonly string[]
  /** Concurrent reads. */
  readonly concurrency: number
  readonly ms: number
  /** Only for the reader. */
  readonly genesis: Genesis | null
}
/** Rejects, or resolves to false, if no quorum answered. */
type Read = (name: string) => Promise<boolean>

const WARM_UP = 0.25
const { kind, urls, names, concurrency, ms, genesis } = childArgument<ClientArgument>()
const clock = createSystemClock()

const clients: Readonly<Record<ClientArgument['kind'], () => Promise<Read>>> = {
  async reader() {
    if (genesis === null) throw new Error('the reader needs a genesis')
    const reader = createReader({
      genesis,
      genesisHash: await hashGenesis(genesis),
      seeds: urls,
      transport: createUndiciTransport(),
      clock,
      allowPrivateAddresses: true,
    })
    return async (name) => (await reader.lookup([{ name }])).every(isDecided)
  },

  /** A minimal quorum over fetch: it reads all nodes, and returns the first text that two nodes have sent. */
  async fetch() {
    return (name) =>
      new Promise((resolve, reject) => {
        const votes = new Map<string, number>()
        let left = urls.length
        const vote = async (url: string) => {
          const text = await (await fetch(`${url}/v0/ans-entries/by-name/${name}`)).text()
          votes.set(text, (votes.get(text) ?? 0) + 1)
          if (votes.get(text) === 2) resolve(true)
        }
        const onEnd = () => {
          if (--left === 0) reject(new Error('no two agree'))
        }
        for (const url of urls) vote(url).then(onEnd, onEnd)
      })
  },

  /** Two of four must agree, like f + 1 nodes. The cache is off, because it would answer without a read. */
  async ethers() {
    const network = Network.from(1)
    const options = { staticNetwork: network, cacheTimeout: -1 }
    const providers = urls.map((url) => new JsonRpcProvider(url, network, options))
    const provider = new FallbackProvider(providers, network, { quorum: 2, cacheTimeout: -1 })
    const to = `0x${'11'.repeat(20)}`
    return async () => (await provider.call({ to, data: '0x' })).length > 2
  },
}

const read = await clients[kind]()

/** Does not use `measureLoad`, because a read of ethers may never end if a server hangs. */
async function measure(): Promise<Load> {
  const start = clock.monotonicMs() + WARM_UP * ms
  const end = start + ms
  const times: number[] = []
  let failureCount = 0
  const loop = async (first: number) => {
    for (let index = first; clock.monotonicMs() < end; index++) {
      const sentAt = clock.monotonicMs()
      const isOk = await read(names[index % names.length] ?? '').catch(() => false)
      const now = clock.monotonicMs()
      if (now < start || now >= end) continue
      if (isOk) times.push(now - sentAt)
      else failureCount++
    }
  }
  await Promise.race([
    Promise.all(Array.from({ length: concurrency }, (_, index) => loop(index))),
    clock.delay(end - clock.monotonicMs() + 1_000),
  ])
  times.sort((a, b) => a - b)
  const at = (fraction: number) => times[Math.floor(times.length * fraction)] ?? Number.NaN
  return {
    count: times.length,
    perSecond: (times.length * 1_000) / ms,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    // Failures of other clients while a server is faulty reduce their rate, but do not fail the measurement.
    failureCount: kind === 'reader' ? failureCount : 0,
    firstFailure: failureCount > 0 ? `${failureCount} reads without an answer` : null,
  }
}
await again({}, measure)
