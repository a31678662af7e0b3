/** One client process that looks names up at the nodes: with the SDK, or unverified, as a client that trusts a node. */

import { createScan } from '@quorumscan/sdk'
import type { Genesis } from '@quorumscan/verifier'
import { again, childArgument } from '../child.ts'
import { measureLoad } from '../load.ts'

export type SdkArgument = {
  readonly kind: 'resolve' | 'fetch'
  readonly url: string
  readonly names: readonly string[]
  /** Lookups that wait at a time. */
  readonly connections: number
  readonly ms: number
  readonly genesis: Genesis
}

const argument = childArgument<SdkArgument>()
const { kind, url, names, genesis } = argument
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
await again(argument, ({ connections, ms }) =>
  measureLoad({
    concurrency: connections,
    ms,
    async ask(index) {
      const found = String(await look(names[index % names.length] ?? '').catch(String))
      return found.includes('::1220') ? null : found
    },
  }),
)
